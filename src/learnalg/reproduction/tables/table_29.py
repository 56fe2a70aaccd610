"""Parameters of the paper's models, counted on ours with 512 positions.

Seconds on two cores, at every scale: nothing is allocated.

Measured: results/table-29/laptop.
"""

from learnalg.reproduction.experiment import Recipe

RECIPE = Recipe("table-29", "Parameters of the models", computed="parameters")
