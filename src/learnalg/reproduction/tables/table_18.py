"""The large models: parameters of each configuration with FP15/P1000, as decoder and as encoder beside one layer of 512
dimensions. Heads that do not divide the dimensions get the next that they do divide, as in table 19.
"""

from learnalg.reproduction.experiment import Experiment

EXPERIMENT = Experiment("table-18", "Configurations of the large models", computed="large-models")
