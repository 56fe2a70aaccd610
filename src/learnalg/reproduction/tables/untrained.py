"""Tables and figures that need no training; `learnalg.reproduction.computed` makes them: tables 1, 18 and 29, figure 3,
the failures of two models, and the speed of ours.
"""

from learnalg.reproduction.experiment import Experiment

VOCABULARIES = (
    "Sizes are of the encodings' own tokens. The paper rounds them here, ours are counted. Its appendix A has 213 "
    "tokens for P10 and 1,104 for P1000, as ours. It has 2,004 for B1999, fewer than 1,999 mantissas and 201 "
    "exponents, which are 2,200. It has 30,600 for FP15 with 17 exponents, more than the 29,121 of its counts of "
    "parameters (table 29); 16 exponents fit, -8 to 7. FP-602/21 is in neither: -6.02e23 is too large for FP15, and "
    "becomes FP-NaN (decision 002)."
)

EXPERIMENTS = (
    # Two numbers as tokens, tokens for each number and sizes of the vocabularies, from our encodings.
    Experiment("table-1", "The four encodings of a number", computed="encodings", note=VOCABULARIES),
    # Parameters of each configuration with FP15/P1000, as decoder and as encoder beside one layer of 512 dimensions.
    # Heads that do not divide the dimensions get the next that they do divide, as in table 19.
    Experiment("table-18", "Configurations of the large models", computed="large-models"),
    # Counted on our models with 512 positions.
    Experiment("table-29", "Parameters of the models", computed="parameters"),
    # Uniform, gaussian and Laplace coefficients, 5x5 to 20x20, 100,000 matrices each. The standard deviation of the
    # eigenvalues is that of the coefficients times the root of n, whatever the coefficients' law.
    Experiment("figure-3", "Spectra of Wigner matrices", computed="spectra", figure="spectra"),
    # Section 4.5, on a new test set: eigenvalues, lengths and right angles of what a model predicts, and the condition
    # number that tells right from wrong. At scale paper the FP15/P1000 run of table 8, at scale laptop the released
    # model of the largest matrices; `learnalg analyse` shows more of it.
    Experiment("eigenvectors-analysis", "Failures of a model of eigenvectors", computed="eigenvectors-analysis"),
    # Section 4.6, on a new test set: distances to the true inverse, and the condition number of the input that predicts
    # failure. At scale paper the FP15/P1000 run of table 9 with 12/8 heads, at scale laptop as above.
    Experiment("inversion-analysis", "Failures of a model of inverses", computed="inversion-analysis"),
    # Section 7: milliseconds a matrix on this machine's CPU, one at a time and a thousand at once; the paper's models
    # ran on a GPU.
    Experiment("speed", "NumPy against the models", computed="speed"),
)
