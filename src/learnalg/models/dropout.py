"""Dropout that does not depend on how a batch is shared out.

A process that has rows 16 to 31 of 64 draws the mask of all 64 rows and takes its own. So several processes, or parts
of a batch one after the other, drop what one pass over the whole batch drops. The dropout between layers of an LSTM or
GRU is torch's own and draws for the rows that are there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class Dropout(nn.Dropout):
    rows: tuple[int, int] | None = None  # the first row that is here, and the number of all; None: all are

    def forward(self, x: Tensor) -> Tensor:
        if self.rows is None or not (self.training and self.p):
            return super().forward(x)
        first, num = self.rows
        kept = torch.empty((num, *x.shape[1:]), dtype=x.dtype, device=x.device).bernoulli_(1 - self.p)
        return x * (kept[first : first + len(x)] / (1 - self.p))


@contextmanager
def rows_of_batch(model: nn.Module, first: int, here: int, num: int) -> Iterator[bool]:
    """Within it, a model reads these rows of a batch. Yields whether its masks are those of the whole batch."""
    layers = [module for module in model.modules() if isinstance(module, Dropout)]
    for layer in layers:
        layer.rows = (first, num) if here < num else None
    yield not any(isinstance(module, nn.RNNBase) for module in model.modules())
    for layer in layers:
        layer.rows = None
