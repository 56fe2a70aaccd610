"""What training sees: the problem's own examples, easier ones before or among them, and a pool that comes again.

    >>> lessons = Lessons(replace_fields(preset("fast"), dim="5", easy_share=0.5, easy_until=0.3, easy_dim="3-4"))
    >>> lessons.batch(7).sources.shape

Batch i depends on the config and i only, as in a plain stream. Easier batches have one size each, so that nothing is
padded. Repeated examples follow Charton and Kempe (2024): part of each batch comes from a small fixed pool.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, cached_property

import numpy as np

from learnalg.config import DataConfig, RunConfig
from learnalg.data import Batch, Stream
from learnalg.encodings.encoding import Ints
from learnalg.ensembles import Rng
from learnalg.tokenizer import PAD

LEVELS = 50  # of the spread of singular values, while it grows
_CHOICES = 17  # sets the choices apart from the stream's own draws under the same seed
_POOL_BATCH = 2**40  # the pool is a batch that no run comes to by counting


class Lessons:
    """Batches of a run's training; `batch(i)` is all that the loop needs."""

    def __init__(self, config: RunConfig) -> None:
        self.curriculum, self.train, self.problem = config.curriculum, config.train, config.data
        self.easier = config.curriculum.easier(config.data)
        self._easy_stream = cache(self._make_easy_stream)
        self.stream = self._of(config.data)

    def _of(self, data: DataConfig) -> Stream:
        return Stream(data, self.train.seed, "train", self.train.batch_size)

    def _make_easy_stream(self, m: int, n: int, level: int) -> Stream:
        """Of one size; the spread of singular values has gone `level` parts of its way to the problem's."""
        spread = self.easier.spread + (self.problem.spread - self.easier.spread) * level / LEVELS
        dim = str(m) if self.easier.dims.square else f"{m}x{n}"
        return self._of(replace(self.easier, dim=dim, spread=spread))

    def batch(self, index: int) -> Batch:
        rng = np.random.default_rng([self.train.seed, _CHOICES, index])
        early = self.curriculum.easy_until * self.train.num_steps
        if index < early and rng.random() < self.curriculum.easy_share:
            dims, grown = self.easier.dims, index / early if self.curriculum.easy_grows else 0.0
            m, n = dims.at(grown) if self.curriculum.easy_grows else dims.draw(rng, 1)[0]
            return self._easy_stream(int(m), int(n), int(grown * LEVELS)).batch(index)
        batch = self.stream.batch(index)
        return self._with_repeated(batch, rng) if self.curriculum.repeated_share else batch

    @cached_property
    def pool(self) -> Batch:
        return Stream(self.problem, self.train.seed, "train", self.curriculum.pool).batch(_POOL_BATCH)

    def _with_repeated(self, batch: Batch, rng: Rng) -> Batch:
        num = round(self.curriculum.repeated_share * len(batch))
        rows = rng.integers(len(self.pool), size=num)
        sources = _join(self.pool.sources[rows], batch.sources[num:])
        targets = _join(self.pool.targets[rows], batch.targets[num:])
        return Batch(sources, targets, ())  # the groups are for judges, and training has none


def _join(first: Ints, second: Ints) -> Ints:
    """One below the other, padded to the longer."""
    width = max(first.shape[1], second.shape[1])
    parts = [np.pad(ids, ((0, 0), (0, width - ids.shape[1])), constant_values=PAD) for ids in (first, second)]
    return np.concatenate(parts)
