"""Failures of a model of eigenvectors on a new test set: eigenvalues, lengths and right angles of what it predicts, and
the condition number that tells right from wrong (section 4.5).

At scale paper the FP15/P1000 run of table 8, at scale laptop the released model of the largest matrices; `learnalg
analyse` shows more of it.
"""

from learnalg.reproduction.experiment import Experiment

EXPERIMENT = Experiment(
    "eigenvectors-analysis", "Failures of a model of eigenvectors", computed="eigenvectors-analysis"
)
