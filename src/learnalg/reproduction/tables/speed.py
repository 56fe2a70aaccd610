"""Milliseconds a matrix: NumPy against the models that are at hand, one matrix at a time and a thousand at once, on
this machine's CPU; the paper's models ran on a GPU (section 7).
"""

from learnalg.reproduction.experiment import Experiment

EXPERIMENT = Experiment("speed", "NumPy against the models", computed="speed")
