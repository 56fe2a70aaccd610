"""The problem, its matrices and how numbers are written."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from learnalg.checks import check_types, need
from learnalg.encodings import get_encoding
from learnalg.encodings.encoding import Ints
from learnalg.ensembles import SQUARE_ENSEMBLES
from learnalg.matrices import MAX_DIM, Dims, Ensemble
from learnalg.tasks import COTRAINING, Task, get_task, parse_subset
from learnalg.tokenizer import Tokenizer


@dataclass(frozen=True)
class DataConfig:
    """The problem, the matrices and the encodings."""

    task: str = "eigenvalues"  # what to learn: `learnalg list tasks`
    subset: tuple[str, ...] = ()  # with --task cotraining: names of tasks, or the paper's letters (TADM)
    task_options: tuple[str, ...] = ()  # such as order=ascending
    dim: str = "5"  # 5, 6x4, 5-10 (square, drawn per example) or 5-10x5-10 (rectangular)
    ensemble: tuple[str, ...] = ("iid-uniform",)  # one, or several to mix: `learnalg list ensembles`
    ensemble_weights: tuple[float, ...] = ()  # weights of a mixture, equal by default
    amplitude: tuple[float, ...] = (10.0,)  # A of the coefficients in [-A, A]; two numbers for a range
    sigma_factor: float = 1.0  # multiplies the coefficients' standard deviation
    spread: float = 1.0  # power to which singular values are raised: below 1 matrices are better conditioned
    symmetric: bool = False  # draw symmetric matrices although the task does not ask for it
    triangle: bool = False  # the model reads a symmetric matrix's upper triangle alone
    noise: float = 0.0  # gaussian input noise, as a fraction of the coefficients' standard deviation
    input_encoding: str = "fp15"  # `learnalg list encodings`
    output_encoding: str = "p1000"  # `learnalg list encodings`

    def __post_init__(self) -> None:
        check_types(self)
        need(0 <= self.noise < 10, f"noise {self.noise}: a fraction from 0 to 10")
        need(len(self.amplitude) in (1, 2), f"amplitude {self.amplitude}: one number, or two for a range")
        if self.task == COTRAINING:
            parse_subset(self.subset)
            need(not self.task_options, "cotraining takes no task options")
        else:
            need(not self.subset, f"subset is for --task {COTRAINING}, not for {self.task}")
        get_encoding(self.input_encoding)
        get_encoding(self.output_encoding)
        _ = self.ensemble_spec
        dims = self.dims
        for name, task in self.tasks:
            if (task.square or task.symmetric or self.symmetric) and not dims.square:
                raise ValueError(f"task {name} needs square matrices: dim {self.dim!r} is rectangular")
            m, n = dims.rows[1], dims.cols[1]
            shapes = task.operands(m, n)
            has_rectangles = not dims.square or any(rows != cols for rows, cols in shapes)
            if self.symmetric and has_rectangles:
                raise ValueError(f"task {name} has operands that cannot be symmetric")
            if self.triangle and (len(shapes) > 1 or not (task.symmetric or self.symmetric)):
                raise ValueError(f"triangle: task {name} here reads other matrices than a symmetric one")
            for ensemble in self.ensemble:
                if ensemble in SQUARE_ENSEMBLES and has_rectangles:
                    raise ValueError(f"ensemble {ensemble!r} draws square matrices, and task {name} here needs others")
            largest = max(*task.input_shape(m, n), *task.output_shape(m, n))
            need(largest <= MAX_DIM, f"task {name} at dim {self.dim}: a dimension of {largest}, more than {MAX_DIM}")

    @property
    def dims(self) -> Dims:
        return Dims.parse(self.dim)

    @cached_property
    def ensemble_spec(self) -> Ensemble:
        amplitude = (self.amplitude[0], self.amplitude[-1])
        return Ensemble(self.ensemble, self.ensemble_weights, amplitude, self.sigma_factor, self.spread)

    @cached_property
    def tasks(self) -> tuple[tuple[str, Task], ...]:
        if self.task == COTRAINING:
            return tuple((name, get_task(name)) for name in parse_subset(self.subset))
        options = {}
        for text in self.task_options:
            key, equals, value = text.partition("=")
            need(bool(equals), f"task option {text!r}: expected name=value")
            options[key] = value
        return ((self.task, get_task(self.task, options)),)

    @cached_property
    def tokenizers(self) -> tuple[Tokenizer, Tokenizer]:
        names = tuple(name for name, _ in self.tasks) if self.task == COTRAINING else ()
        return Tokenizer(self.input_encoding, names), Tokenizer(self.output_encoding, names)

    def read_tokens(self, numbers: Ints, shape: tuple[int, int], task: int = 0) -> Ints:
        """What a model reads of coefficients whose local ids are (num, m n, width)."""
        ids = self.tokenizers[0].frame(numbers, shape, task)
        return ids[:, self._read(shape)] if self.triangle else ids

    def _read(self, shape: tuple[int, int]) -> NDArray[np.bool_]:
        """Which tokens of a matrix the model reads: of a triangle, those on the diagonal and above."""
        source = self.tokenizers[0]
        is_upper = np.triu(np.ones(shape, dtype=bool)) | (not self.triangle)
        return np.concatenate([np.ones(source.header, dtype=bool), is_upper.ravel().repeat(source.width)])

    @cached_property
    def lengths(self) -> tuple[int, int]:
        """The longest source, and the longest target with its end token."""
        m, n = self.dims.rows[1], self.dims.cols[1]
        target = self.tokenizers[1]
        longest_source = max(int(self._read(task.input_shape(m, n)).sum()) for _, task in self.tasks)
        longest_target = max(target.length(task.output_shape(m, n)) for _, task in self.tasks) + 1
        return longest_source, longest_target
