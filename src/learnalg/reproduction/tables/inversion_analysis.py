"""Failures of a model of inverses on a new test set: distances to the true inverse, and the condition number of the
input that predicts failure (section 4.6).

At scale paper the FP15/P1000 run of table 9 with 12/8 heads, at scale laptop the released model of the largest
matrices; `learnalg analyse` shows more of it.
"""

from learnalg.reproduction.experiment import Experiment

EXPERIMENT = Experiment("inversion-analysis", "Failures of a model of inverses", computed="inversion-analysis")
