"""Failures of a model of eigenvectors on a new test set: eigenvalues, lengths and right angles of what it predicts, and
the condition number that tells right from wrong (section 4.5).

At scale paper the FP15/P1000 run of table 8, at scale laptop the kept model of the largest matrices; `learnalg
analyse` shows more of it.

On two cores a second at scale smoke (a network that has learned nothing), else the decoding of 10,000 examples:
minutes.

Measured: results/eigenvectors-analysis/laptop.
"""

from learnalg.reproduction.experiment import Recipe

RECIPE = Recipe("eigenvectors-analysis", "Failures of a model of eigenvectors", computed="eigenvectors-analysis")
