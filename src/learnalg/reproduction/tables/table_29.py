"""Parameters of the paper's models, counted on ours with 512 positions."""

from learnalg.reproduction.experiment import Experiment

EXPERIMENT = Experiment("table-29", "Parameters of the models", computed="parameters")
