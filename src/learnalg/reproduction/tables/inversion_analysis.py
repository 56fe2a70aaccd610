"""Failures of a model of inverses on a new test set: distances to the true inverse, and the condition number of the
input that foretells failure (section 4.6).

At scale paper the FP15/P1000 run of table 9 with 12/8 heads, at scale laptop the kept model of the largest matrices;
`learnalg analyse` shows more of it.

On two cores a second at scale smoke (a network that has learned nothing), else the decoding of 10,000 examples:
minutes.

Measured: results/inversion-analysis/laptop.
"""

from learnalg.reproduction.experiment import Recipe

RECIPE = Recipe("inversion-analysis", "Failures of a model of inverses", computed="inversion-analysis")
