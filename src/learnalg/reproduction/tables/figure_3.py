"""Spectra of 100,000 Wigner matrices of each kind: uniform, gaussian and Laplace coefficients, 5x5 to 20x20. The
standard deviation of the eigenvalues is that of the coefficients times the root of n, whatever the coefficients'
law.
"""

from learnalg.reproduction.experiment import Experiment

EXPERIMENT = Experiment("figure-3", "Spectra of Wigner matrices", computed="spectra", figure="spectra")
