"""The stream of examples: batch i of a split depends on (seed, split, i) only.

    >>> stream = Stream(Problem(DataConfig(task="add", dim="2")), seed=1, split="train", batch_size=64)
    >>> stream.batch(7).sources.shape
    (64, 10)

The splits share no example. Each input, as the model reads it, has a hash; a sixteenth of all inputs belongs to `test`,
another to `valid`, the rest to `train`. An input of another split's share is drawn again. So no example of the test set
is ever trained on, whatever the seeds and however small the matrices.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from threading import Thread, current_thread
from typing import Protocol

import numpy as np

from learnalg.config import DataConfig, RunConfig
from learnalg.naming import unknown
from learnalg.pairs.given import Given, given
from learnalg.problem import Problem
from learnalg.problems import Task
from learnalg.problems.ensembles import Floats, Rng
from learnalg.splits import NUM_SHARES, SPLITS, belongs
from learnalg.tokens.encoding import Ints
from learnalg.tokens.tokenizer import END, PAD

EVERY = "all"  # inputs of all splits, for files that others will split
TEST_CHUNK = 1_000  # a test set is made in batches of this size, so that its first n examples are always the same
MOST_DRAWN = 2**23  # coefficients that are drawn at once: 17 candidates for each of 1,000 matrices up to 21x21


@dataclass(frozen=True)
class Group:
    """The examples of a batch that have one task and one size m x n."""

    task: int  # index into the config's tasks
    dims: tuple[int, int]
    rows: Ints  # their places in the batch
    inputs: Floats  # (num, rows, cols): what the model sees, rounded, noise included
    solutions: Floats  # of the input without noise (of the matrix as drawn, where config.rounded is off), not rounded


@dataclass(frozen=True)
class Batch:
    sources: Ints  # (num, longest), padded
    targets: Ints  # (num, longest), each with its end token, padded
    groups: tuple[Group, ...]

    def __len__(self) -> int:
        return len(self.sources)


class Stream:
    def __init__(self, problem: Problem, seed: int, split: str, batch_size: int) -> None:
        if split not in (*SPLITS, EVERY):
            raise unknown("split", split, (*SPLITS, EVERY))
        self.problem, self.seed, self.split, self.batch_size = problem, seed, split, batch_size
        self.given: Given | None = given(problem.config) if problem.config.data else None

    def batch(self, index: int, kind: tuple[int, int, int] | None = None) -> Batch:
        """`kind`: the task and m x n of all examples, where they are given and not drawn."""
        problem, target, num = self.problem, self.problem.tokenizers[1], 0
        groups, sources, targets = [], [], []
        for group, seen_ids in self._drawn(index, kind) if self.given is None else self._given(self.given, index):
            shape = problem.tasks[group.task][1].input_shape(*group.dims)
            groups.append(group)
            sources.append(problem.read_tokens(seen_ids, shape, group.task))
            targets.append(target.encode(group.solutions, group.task))
            num += len(group.rows)
        targets = [np.pad(ids, ((0, 0), (0, 1)), constant_values=END) for ids in targets]
        return Batch(_scatter(num, groups, sources), _scatter(num, groups, targets), tuple(groups))

    def _drawn(self, index: int, kind: tuple[int, int, int] | None) -> Iterator[tuple[Group, Ints]]:
        """Random matrices, and their solutions."""
        rng = np.random.default_rng([self.seed, (*SPLITS, EVERY).index(self.split), index])
        problem, num = self.problem, self.batch_size
        which, dims = self._kinds(rng) if kind is None else (np.repeat(kind[0], num), np.tile(kind[1:], (num, 1)))
        keys, inverse = np.unique(which * 10**6 + dims[:, 0] * 10**3 + dims[:, 1], return_inverse=True)
        for k, key in enumerate(keys):
            task_index, m, n = int(key // 10**6), int(key // 10**3 % 10**3), int(key % 10**3)
            rows = np.flatnonzero(inverse == k) if len(keys) > 1 else np.arange(num)
            task = problem.tasks[task_index][1]
            seen_ids, seen, clean = self._draw(rng, task, m, n, len(rows))
            yield Group(task_index, (m, n), rows, seen, task.solve(clean)), seen_ids

    def _given(self, pairs: Given, index: int) -> Iterator[tuple[Group, Ints]]:
        """The pairs of a file. A training batch has one task and one size here too; of other splits, less than a batch
        may be left."""
        if self.split == "train":
            chosen = [pairs.to_train(self.seed, index, self.batch_size)]
        else:
            chosen = pairs.held_out(self.split, self.seed, index, self.batch_size)
        for part, rows, places in chosen:
            ids, seen = self.problem.as_seen(part.inputs[rows])
            yield Group(part.task, part.dims, places, seen, part.output[rows]), ids

    def _kinds(self, rng: Rng) -> tuple[Ints, Ints]:
        """Task and m x n of each example. A training batch has one task and one size, so that nothing is padded. A
        validation or test set has all in equal parts: its examples must not depend on the size of batches."""
        problem, num = self.problem, self.batch_size
        num_tasks = len(problem.tasks)
        if self.split == "train":
            which = rng.integers(num_tasks, size=1) if num_tasks > 1 else np.zeros(1, np.int64)
            return which.repeat(num), problem.dims.draw_large(rng)[None].repeat(num, axis=0)
        which = rng.integers(num_tasks, size=num) if num_tasks > 1 else np.zeros(num, np.int64)
        return which, problem.dims.draw(rng, num)

    def _draw(self, rng: Rng, task: Task, m: int, n: int, num: int) -> tuple[Ints, Floats, Floats]:
        """Token ids and values of what the model reads, and the values without noise, for `num` problems that have a
        solution and belong to this split."""
        parts: list[tuple[Ints, Floats, Floats]] = []
        missing, expected = num, (1.1 * NUM_SHARES if self.split in ("valid", "test") else 1.2)
        rows, cols = task.input_shape(m, n)
        most = max(1, MOST_DRAWN // (rows * cols))
        for _ in range(1_000):
            candidates = min(int(missing * expected) + 8, most)
            ids, seen, clean = self._candidates(rng, task, m, n, candidates)
            keep = np.flatnonzero((self.split == EVERY or belongs(seen, self.split)) & task.accept(clean))[:missing]
            parts.append((ids[keep], seen[keep], clean[keep]))
            missing -= len(keep)
            if not missing:
                if len(parts) == 1:
                    return parts[0]
                ids, seen, clean = (np.concatenate(p) for p in zip(*parts, strict=True))
                return ids, seen, clean
        raise ValueError(f"could not draw {m}x{n} problems for the split {self.split!r}: too few exist")

    def _candidates(self, rng: Rng, task: Task, m: int, n: int, num: int) -> tuple[Ints, Floats, Floats]:
        config, ensemble = self.problem.config, self.problem.ensemble
        symmetric = task.symmetric or config.symmetric
        draws = [ensemble.draw(rng, num, rows, cols, symmetric) for rows, cols in task.operands(m, n)]
        drawn = np.concatenate([d.matrices for d in draws], axis=2) if len(draws) > 1 else draws[0].matrices
        ids, seen = self.problem.as_seen(drawn)
        clean = seen if config.rounded else drawn
        if not config.noise:
            return ids, seen, clean
        # Noise on every coefficient, also of symmetric matrices: what the model sees is then not quite symmetric.
        sigma = np.concatenate([np.broadcast_to(d.sigma[:, None, None], d.matrices.shape) for d in draws], axis=2)
        ids, seen = self.problem.as_seen(clean + config.noise * sigma * rng.standard_normal(clean.shape))
        return ids, seen, clean


def _scatter(num: int, groups: list[Group], parts: list[Ints]) -> Ints:
    """Puts each group's rows at their places, padded to the longest."""
    if len(parts) == 1:
        return parts[0]
    out = np.full((num, max(ids.shape[1] for ids in parts)), PAD, dtype=np.int64)
    for group, ids in zip(groups, parts, strict=True):
        out[group.rows, : ids.shape[1]] = ids
    return out


def fixed_set(problem: Problem, num: int, seed: int, split: str = "test") -> Iterator[Batch]:
    """The first `num` examples of a split in batches of at most TEST_CHUNK; of a file, no more than it has."""
    stream = Stream(problem, seed, split, TEST_CHUNK)
    if stream.given is not None:
        num = min(num, stream.given.num(split))
    for index in range(-(-num // TEST_CHUNK)):
        batch = stream.batch(index)
        left = num - index * TEST_CHUNK
        yield batch if left >= len(batch) else shard(batch, 0, left)


def shard(batch: Batch, start: int, stop: int) -> Batch:
    """Rows start to stop - 1 as a batch of their own."""
    groups = []
    for group in batch.groups:
        inside = (group.rows >= start) & (group.rows < stop)
        if inside.any():
            rows = group.rows[inside] - start
            groups.append(Group(group.task, group.dims, rows, group.inputs[inside], group.solutions[inside]))
    return Batch(batch.sources[start:stop], batch.targets[start:stop], tuple(groups))


_CHOICES = 17  # separates the choices from the stream's own draws under the same seed
_POOL_BATCH = 2**40  # the pool is a batch whose index no run reaches


class TrainingData:
    """The batches of a run: of a stage, of further examples that are mixed in, or of the problem itself, some of whose
    examples may be repeated. Batch i depends on the config and on i only.

    >>> data = TrainingData(replace_fields(preset("fast"), dim="5", mix_share=0.5, mix_dim="3-4"))
    >>> data.batch(7).sources.shape

    Repeated examples follow Charton and Kempe (2024): part of each batch comes from a small fixed pool, which each task
    and size has for itself.
    """

    def __init__(self, config: RunConfig) -> None:
        self.mix, self.train = config.mix, config.train
        self.stream = self._stream_of(config.data)
        mixed = _changed(config.data, config.mix.mix_dim, config.mix.mix_ensemble)
        self.mixed_in = self._stream_of(mixed) if config.mix.mix_share else None
        self.stages = [self._stream_of(_changed(config.data, stage.dim, stage.ensemble)) for stage in config.stage]
        self.ends = stage_ends(config)
        self.pools: dict[tuple[int, int, int], Batch] = {}

    def _stream_of(self, data: DataConfig) -> Stream:
        return Stream(Problem(data), self.train.seed, "train", self.train.batch_size)

    @property
    def problems(self) -> list[Problem]:
        """All problems whose matrices a model must be able to read and write."""
        streams = (self.stream, *([self.mixed_in] if self.mixed_in else []), *self.stages)
        return [stream.problem for stream in streams]

    def batch(self, index: int) -> Batch:
        for end, stage in zip(self.ends, self.stages, strict=True):
            if index < end:
                return stage.batch(index)
        rng = np.random.default_rng([self.train.seed, _CHOICES, index])
        is_early = index < self.mix.mix_until * self.train.num_steps
        if is_early and rng.random() < self.mix.mix_share and self.mixed_in is not None:
            return self.mixed_in.batch(index)
        batch = self.stream.batch(index)
        return self._with_repeated(batch, rng) if self.mix.repeated_share else batch

    def _with_repeated(self, batch: Batch, rng: Rng) -> Batch:
        (group,) = batch.groups
        pool = self.pool((group.task, *group.dims))
        num = round(self.mix.repeated_share * len(batch))
        rows = rng.integers(len(pool), size=num)
        sources = np.concatenate([pool.sources[rows], batch.sources[num:]])
        targets = np.concatenate([pool.targets[rows], batch.targets[num:]])
        return Batch(sources, targets, ())  # the groups are for judges, and training has none

    def pool(self, kind: tuple[int, int, int]) -> Batch:
        """The repeated examples of one task and size."""
        if kind not in self.pools:
            stream = Stream(self.stream.problem, self.train.seed, "train", self.mix.pool)
            self.pools[kind] = stream.batch(_POOL_BATCH, kind)
        return self.pools[kind]


def stage_ends(config: RunConfig) -> list[int]:
    """The step at which each stage of a run ends."""
    examples = np.cumsum([stage.examples for stage in config.stage], dtype=np.int64)
    return [round(int(total) / config.train.batch_size) for total in examples]


def _changed(data: DataConfig, dim: str, ensemble: tuple[str, ...]) -> DataConfig:
    return replace(data, dim=dim or data.dim, ensemble=ensemble or data.ensemble)


class Source(Protocol):
    def batch(self, index: int) -> Batch: ...


class DeadWorkerError(ValueError):
    """A thread that makes batches has ended."""


def prefetch(stream: Source, start: int, stop: int, workers: int) -> Generator[Batch, None, None]:
    """Batches start to stop - 1 in order, made ahead by threads (NumPy releases the lock while it computes)."""
    if workers == 0:
        yield from (stream.batch(i) for i in range(start, stop))
        return
    threads: list[Thread] = []
    pool = ThreadPoolExecutor(workers, "batches", initializer=lambda: threads.append(current_thread()))
    ahead: deque[Future[Batch]] = deque()
    try:
        for index in range(start, stop):
            while len(ahead) < 4 * workers and index + len(ahead) < stop:
                ahead.append(pool.submit(stream.batch, index + len(ahead)))
            yield _made(ahead.popleft(), index, threads)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _made(batch: Future[Batch], index: int, threads: list[Thread]) -> Batch:
    """Waits for a batch, but not for one that a thread has taken with it."""
    are_alive = True
    while are_alive and not wait([batch], timeout=1.0).done:
        are_alive = all(thread.is_alive() for thread in threads)
    is_lost = not batch.done() or not isinstance(batch.exception(), Exception | None)
    if is_lost:
        raise DeadWorkerError(f"a thread that makes batches has ended before batch {index}")
    return batch.result()
