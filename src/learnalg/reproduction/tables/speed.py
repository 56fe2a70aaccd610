"""Milliseconds a matrix: NumPy against the models that are at hand, one matrix at a time and a thousand at once, on
this machine's CPU; the paper's models ran on a GPU (section 7).

Seconds on two cores.

Measured: results/speed/laptop.
"""

from learnalg.reproduction.experiment import Recipe

RECIPE = Recipe("speed", "NumPy against the models", computed="speed")
