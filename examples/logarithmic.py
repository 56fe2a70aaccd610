"""An encoding of your own: one token for a sign and a logarithm in steps of 1 %, so errors are at most 0.5 %.

learnalg encode --plugin examples/logarithmic.py --encoding log 3.14 -602
learnalg train --plugin examples/logarithmic.py --task add --dim 2 --input-encoding log --out runs/log
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from learnalg.tokens import ENCODINGS, Slot
from learnalg.tokens.encoding import Bools, Floats, Ints

SMALLEST, STEP, NUM = 1e-3, 0.01, 1_843  # 1e-3 e^(0.01 k): up to 1e5


@dataclass(frozen=True)
class Logarithmic:
    @cached_property
    def tokens(self) -> tuple[str, ...]:
        return ("0", *(f"{sign}L{k}" for sign in "+-" for k in range(NUM)))

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        return (Slot(0, len(self.tokens)),)  # a number has one token, and each token is a number

    @cached_property
    def token_values(self) -> Floats:
        sizes = SMALLEST * np.exp(STEP * np.arange(NUM))
        return np.concatenate([[0.0], sizes, -sizes])

    @cached_property
    def ordered(self) -> tuple[Slot, ...]:
        return (Slot(1, 1 + NUM), Slot(1 + NUM, 1 + 2 * NUM))

    @property
    def written(self) -> tuple[Slot, ...]:
        return self.ordered

    def encode(self, values: Floats) -> Ints:
        sizes = np.abs(values)
        if not np.isfinite(sizes).all():
            raise ValueError("NaN and infinity cannot be encoded")
        k = np.rint(np.log(np.maximum(sizes, SMALLEST / 2) / SMALLEST) / STEP).astype(np.int64)
        if (k >= NUM).any():
            raise ValueError(f"{sizes.max():.3g} is too large for the encoding log, which ends at 1e5")
        return np.where(k < 0, 0, 1 + k + NUM * (values < 0))[..., None]

    def decode(self, ids: Ints) -> tuple[Floats, Bools]:
        valid = (ids[..., 0] >= 0) & (ids[..., 0] < len(self.tokens))
        return np.where(valid, self.token_values[np.where(valid, ids[..., 0], 0)], np.nan), valid


ENCODINGS["log"] = Logarithmic()
