"""Spectra of 100,000 Wigner matrices of each kind: uniform, gaussian and Laplace coefficients, 5x5 to 20x20. The
standard deviation of the eigenvalues is that of the coefficients times the root of n, whatever the coefficients' law.

On two cores a second at scale smoke (200 matrices of each kind), about a minute at the others.

Measured: results/figure-3/laptop.
"""

from learnalg.reproduction.experiment import Recipe

RECIPE = Recipe("figure-3", "Spectra of Wigner matrices", computed="spectra", figure="spectra")
