"""Batches of matrices to padded arrays of token ids, and strictly back (paper, section 2.1).

A 2x1 matrix in P1000 is  V2 V1 + 314 E-2 - 602 E21, and an end token in a prediction. In joint training the
task's own token stands first. Every vocabulary begins alike: start/end, padding, 16 tasks, 100
dimensions; then come the encoding's tokens, and reserved ones up to the size that the paper's parameter table counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from learnalg.problems import MAX_TASKS
from learnalg.problems.dims import MAX_DIM
from learnalg.tokens import get_encoding
from learnalg.tokens.encoding import Encoding, Floats, Ints, Slot

END = 0  # also the decoder's first token
PAD = 1
FIRST_TASK = 2
FIRST_DIM = FIRST_TASK + MAX_TASKS  # the id of V1
FIRST_NUMBER = FIRST_DIM + MAX_DIM

# With 512 positions these sizes give the paper's parameter counts to the last unit.
PAPER_VOCABULARY_SIZES = {"p10": 331, "p1000": 1231, "b1999": 2322, "fp15": 29121}

# Why a sequence is not a matrix. Order: the first that applies is reported.
REASONS = ("ok", "no end", "wrong task token", "no dimensions", "too short", "too long", "not a number")
OK, NO_END, WRONG_TASK, NO_DIMENSIONS, TOO_SHORT, TOO_LONG, NOT_A_NUMBER = range(len(REASONS))


@dataclass(frozen=True)
class Decoded:
    reasons: NDArray[np.int8]  # (num,) index into REASONS
    tasks: Ints  # (num,) index of the task token, 0 where there is none
    shapes: Ints  # (num, 2); meaningful where ok
    values: Floats  # (num, most): coefficients row by row, NaN beyond rows * cols

    def matrices(self, rows: NDArray[np.bool_] | Ints, shape: tuple[int, int]) -> Floats:
        """Those predictions as matrices; they must be well-formed and of that shape."""
        m, n = shape
        return self.values[rows, : m * n].reshape(-1, m, n)


@dataclass(frozen=True)
class Tokenizer:
    encoding_name: str
    task_names: tuple[str, ...] = ()  # for joint training; otherwise there is no task token

    def __post_init__(self) -> None:
        get_encoding(self.encoding_name)
        if len(self.task_names) > MAX_TASKS:
            raise ValueError(f"{len(self.task_names)} tasks at once: at most {MAX_TASKS}")

    @cached_property
    def encoding(self) -> Encoding:
        return get_encoding(self.encoding_name)

    @property
    def width(self) -> int:
        return len(self.encoding.slots)

    @property
    def header(self) -> int:
        """Tokens before the first coefficient."""
        return 2 + bool(self.task_names)

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        spare_tasks = (f"<task-{k}>" for k in range(len(self.task_names), MAX_TASKS))
        tasks = (*(f"<{name}>" for name in self.task_names), *spare_tasks)
        dims = (f"V{k}" for k in range(1, MAX_DIM + 1))
        tokens = ("<s>", "<pad>", *tasks, *dims, *self.encoding.tokens)
        reserved = PAPER_VOCABULARY_SIZES.get(self.encoding_name, 0) - len(tokens)
        return (*tokens, *(f"<reserved-{k}>" for k in range(reserved)))

    @property
    def vocab_size(self) -> int:
        return len(self.tokens)

    @cached_property
    def token_values(self) -> Floats:
        """The number that each token stands for, NaN for none."""
        values = np.full(self.vocab_size, np.nan)
        numbers = self.encoding.token_values
        values[FIRST_NUMBER : FIRST_NUMBER + len(numbers)] = numbers
        return values

    def numbers(self, ids: Ints) -> Floats:
        """(..., width) -> the number that these tokens stand for together, NaN for none."""
        return self.encoding.decode(ids - FIRST_NUMBER)[0]

    @cached_property
    def ordered(self) -> Ints:
        """(vocab, 2): for each token the range of ids in which neighbours mean close numbers; itself if none."""
        return self._ranges(self.encoding.ordered)

    @cached_property
    def written(self) -> Ints:
        """The same, without ids that no number is written with."""
        return self._ranges(self.encoding.written)

    def _ranges(self, slots: tuple[Slot, ...]) -> Ints:
        ids = np.arange(self.vocab_size)
        ranges = np.stack([ids, ids + 1], axis=1)
        for start, stop in slots:
            ranges[FIRST_NUMBER + start : FIRST_NUMBER + stop] = FIRST_NUMBER + start, FIRST_NUMBER + stop
        return ranges

    def length(self, shape: tuple[int, int]) -> int:
        """Tokens of a matrix of that shape, without the end token."""
        return self.header + shape[0] * shape[1] * self.width

    def encode(self, matrices: Floats, task: int = 0) -> Ints:
        """(num, m, n) -> (num, length). `task` indexes task_names."""
        num, m, n = matrices.shape
        return self.frame(self.encoding.encode(matrices.reshape(num, m * n)), (m, n), task)

    def frame(self, numbers: Ints, shape: tuple[int, int], task: int = 0) -> Ints:
        """Local ids of the coefficients, (num, m n, width), after their header."""
        if not all(1 <= dim <= MAX_DIM for dim in shape):
            raise ValueError(f"a {shape[0]}x{shape[1]} matrix: dimensions are 1 to {MAX_DIM}")
        if not 0 <= task < max(1, len(self.task_names)):
            raise ValueError(f"task {task} of {len(self.task_names)}")
        num = len(numbers)
        ids = np.empty((num, self.length(shape)), dtype=np.int64)
        if self.task_names:
            ids[:, 0] = FIRST_TASK + task
        ids[:, self.header - 2] = FIRST_DIM + shape[0] - 1
        ids[:, self.header - 1] = FIRST_DIM + shape[1] - 1
        np.add(numbers.reshape(num, -1), FIRST_NUMBER, out=ids[:, self.header :])
        return ids

    def decode(self, ids: Ints) -> Decoded:
        """(num, length) -> matrices. Each row must be one matrix, an end token, then padding or nothing."""
        num = len(ids)
        ids = np.concatenate([ids, np.full((num, self.header + 1), PAD)], axis=1)  # room for short ones
        is_end = np.asarray(ids == END)
        end = np.where(is_end.any(axis=1), is_end.argmax(axis=1), -1)

        tasks = ids[:, 0] - FIRST_TASK if self.task_names else np.zeros(num, dtype=np.int64)
        right_task = (tasks >= 0) & (tasks < max(1, len(self.task_names)))
        shapes = ids[:, self.header - 2 : self.header] - FIRST_DIM + 1
        right_dims = np.all((shapes >= 1) & (shapes <= MAX_DIM), axis=1)
        shapes = np.where(right_dims[:, None], shapes, 1)
        counts = shapes.prod(axis=1)
        expected = self.header + counts * self.width
        trailing = (np.cumsum(is_end, axis=1) - is_end > 0) & (ids != PAD)  # after the first end

        # Coefficients: those after a row's own count are read as well, then masked.
        most = (ids.shape[1] - self.header) // self.width
        body = ids[:, self.header : self.header + most * self.width].reshape(num, most, self.width)
        values, is_number = self.encoding.decode(body - FIRST_NUMBER)
        inside = np.arange(most) < counts[:, None]
        values = np.where(inside, values, np.nan)

        reasons = np.select(
            [
                end < 0,
                ~right_task,
                ~right_dims,
                end < expected,
                (end > expected) | trailing.any(axis=1),
                (inside & ~is_number).any(axis=1),
            ],
            [NO_END, WRONG_TASK, NO_DIMENSIONS, TOO_SHORT, TOO_LONG, NOT_A_NUMBER],
            OK,
        ).astype(np.int8)
        return Decoded(reasons, np.where(right_task, tasks, 0), shapes, values)
