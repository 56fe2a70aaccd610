"""A task of your own in one short file: the determinant.

learnalg train --plugin examples/determinant.py --task determinant --dim 2 --examples 100000 --out runs/det2
"""

import numpy as np

from learnalg.problems import TASKS, Task


def determinant() -> Task:
    return Task(
        "the determinant",
        solve=lambda M: np.linalg.det(M)[:, None, None],  # a batch of matrices to a batch of 1x1 matrices
        output_shape=lambda m, n: (1, 1),
        square=True,
    )


TASKS["determinant"] = determinant
