"""Which inputs are trained on, and which are held out: a hash of the input decides (decision 004).

>>> belongs(np.array([[[1.0, 2.0], [3.0, 4.0]]]), "train")
array([ True])
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from learnalg.problems.task import Floats

SPLITS = ("train", "valid", "test")
NUM_SHARES = 16  # one of them is `valid`, another is `test`


def belongs(seen: Floats, split: str) -> NDArray[np.bool_]:
    """Whether each matrix falls into that split's share."""
    # A multiplicative hash of the doubles' bits, vectorised; + 0.0 makes one zero of the two.
    bits = np.ascontiguousarray(seen.reshape(len(seen), -1) + 0.0).view(np.uint64)
    k = np.arange(bits.shape[1], dtype=np.uint64)
    with np.errstate(over="ignore"):
        bits = (bits ^ (bits >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        total = (bits * (np.uint64(2) * k + np.uint64(0x9E3779B97F4A7C15))).sum(axis=1, dtype=np.uint64)
        total = (total ^ (total >> np.uint64(32))) * np.uint64(0x94D049BB133111EB)
    share = total >> np.uint64(60)  # 0 to 15
    if split == "train":
        return share > 1
    return share == (0 if split == "test" else 1)
