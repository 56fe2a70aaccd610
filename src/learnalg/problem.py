"""A DataConfig brought to life: its tasks, tokenizers and ensemble, what a model reads, and how long that is.

    >>> problem = Problem(DataConfig(task="add", dim="2"))
    >>> problem.lengths
    (10, 15)

All of it follows from the config and is checked when it is built: unknown names, impossible sizes and impossible
combinations are refused here, in one line.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnalg.config import DataConfig, RunConfig
from learnalg.problems import PAIRS, Task, parse_tasks
from learnalg.problems.dims import MAX_DIM, Dims
from learnalg.problems.ensembles import SQUARE_ENSEMBLES, Mixture
from learnalg.tokens.encoding import Floats, Ints
from learnalg.tokens.tokenizer import Tokenizer


@dataclass(frozen=True)
class Problem:
    config: DataConfig

    def __post_init__(self) -> None:
        config, dims = self.config, self.dims
        _ = self.tokenizers, self.ensemble
        if config.symmetric and all(task.symmetric for _, task in self.tasks):
            raise ValueError(f"symmetric: has no effect, task {config.task} draws symmetric matrices anyway")
        for name, task in self.tasks:
            if (task.square or task.symmetric or config.symmetric) and not dims.square:
                raise ValueError(f"task {name} needs square matrices: dim {config.dim!r} is rectangular")
            m, n = dims.rows[1], dims.cols[1]
            shapes = task.operands(m, n)
            has_rectangles = not dims.square or any(rows != cols for rows, cols in shapes)
            if config.symmetric and has_rectangles:
                raise ValueError(f"task {name} has operands that cannot be symmetric")
            if config.triangle and (len(shapes) > 1 or not (task.symmetric or config.symmetric)):
                raise ValueError(f"triangle: task {name} does not read one symmetric matrix")
            for ensemble in config.ensemble:
                if ensemble in SQUARE_ENSEMBLES and has_rectangles:
                    raise ValueError(f"ensemble {ensemble!r} draws square matrices, and task {name} here needs others")
            largest = max(*task.input_shape(m, n), *task.output_shape(m, n))
            if largest > MAX_DIM:
                raise ValueError(f"task {name} at dim {config.dim}: a dimension of {largest}, more than {MAX_DIM}")

    @cached_property
    def tasks(self) -> tuple[tuple[str, Task], ...]:
        """Names and tasks: one, or several in joint training."""
        return parse_tasks(self.config.task, has_file=bool(self.config.data))

    @cached_property
    def task_names(self) -> tuple[str, ...]:
        """Names with their options: 'eigenvectors:order=ascending'."""
        texts = {text.partition(":")[0]: text for text in self.config.task.split("+")}
        return tuple(texts.get(name, name) for name, _ in self.tasks)

    @cached_property
    def dims(self) -> Dims:
        return Dims.parse(self.config.dim)

    @cached_property
    def ensemble(self) -> Mixture:
        config = self.config
        return Mixture(config.ensemble, (config.amplitude[0], config.amplitude[-1]), config.sigma_factor)

    @cached_property
    def tokenizers(self) -> tuple[Tokenizer, Tokenizer]:
        """For the input and the output. In joint training the task's own token stands first."""
        names = tuple(name for name, _ in self.tasks) if len(self.tasks) > 1 else ()
        return Tokenizer(self.config.input_encoding, names), Tokenizer(self.config.output_encoding, names)

    def find_task(self, name: str = "") -> int:
        """The index of a task. The name may be left out if there is one task only."""
        names = [known for known, _ in self.tasks]
        if not name and len(names) == 1:
            return 0
        if name not in names:
            raise ValueError(f"which task? this model knows {', '.join(names)}")
        return names.index(name)

    def as_seen(self, matrices: Floats) -> tuple[Ints, Floats]:
        """Token ids of the coefficients, and the values that these stand for."""
        num, m, n = matrices.shape
        encoding = self.tokenizers[0].encoding
        ids = encoding.encode(matrices.reshape(num, m * n))
        values, is_number = encoding.decode(ids)
        if not is_number.all():
            raise ValueError(
                f"a coefficient of {np.abs(matrices).max():.3g} is too large for {self.config.input_encoding}"
            )
        return ids, values.reshape(num, m, n)

    def read_tokens(self, numbers: Ints, shape: tuple[int, int], task: int = 0) -> Ints:
        """The tokens that a model reads, of coefficients with local ids (num, m n, width)."""
        ids = self.tokenizers[0].frame(numbers, shape, task)
        return ids[:, self._is_read(shape)] if self.config.triangle else ids

    def _is_read(self, shape: tuple[int, int]) -> NDArray[np.bool_]:
        """Which tokens of a matrix the model reads: with `triangle`, those on the diagonal and above."""
        source = self.tokenizers[0]
        is_upper = np.triu(np.ones(shape, dtype=bool)) | (not self.config.triangle)
        return np.concatenate([np.ones(source.header, dtype=bool), is_upper.ravel().repeat(source.width)])

    @cached_property
    def lengths(self) -> tuple[int, int]:
        """The longest source, and the longest target with its end token."""
        m, n = self.dims.rows[1], self.dims.cols[1]
        target = self.tokenizers[1]
        longest_source = max(int(self._is_read(task.input_shape(m, n)).sum()) for _, task in self.tasks)
        longest_target = max(target.length(task.output_shape(m, n)) for _, task in self.tasks) + 1
        return longest_source, longest_target


def elsewhere(
    config: RunConfig,
    ensemble: str | tuple[str, ...] = (),
    amplitude: float | tuple[float, ...] = (),
    sigma_factor: float | None = None,
    dim: str | int = "",
    noise: float | None = None,
) -> Problem:
    """The problem of a config with other matrices than in training. What is not given stays; `sigma_factor` is a
    multiple of that in training."""
    changes: dict[str, Any] = {}
    if ensemble:
        changes["ensemble"] = (ensemble,) if isinstance(ensemble, str) else tuple(ensemble)
    if amplitude:
        values = amplitude if isinstance(amplitude, tuple | list) else (amplitude,)
        changes["amplitude"] = tuple(map(float, values))
    if dim:
        changes["dim"] = str(dim)
    if sigma_factor is not None:
        changes["sigma_factor"] = float(sigma_factor) * config.data.sigma_factor
    if noise is not None:
        changes["noise"] = float(noise)
    if changes and config.data.data:
        if config.data.task.startswith(PAIRS):
            raise ValueError(f"{next(iter(changes))}: this model is of pairs in a file, and nothing else can be drawn")
        changes["data"] = ""
    problem = Problem(replace(config.data, **changes))
    check_lengths(problem, config)
    return problem


MOST_ATTENTION = 8 * 2**30  # bytes, of one example


def check_lengths(problem: Problem, config: RunConfig) -> None:
    """Refuses sequences longer than the positions of the network, or too long for its attention."""
    for side, length in zip(("input", "output"), problem.lengths, strict=True):
        if length > config.model.max_positions:
            raise ValueError(
                f"the longest {side} has {length} tokens, more than max_positions {config.model.max_positions}: "
                f"raise --max-positions or choose a shorter encoding"
            )
    check_attention(problem, config)


def check_attention(problem: Problem, config: RunConfig) -> None:
    """Refuses sequences whose attention takes too much memory."""
    model = config.model
    longest = min(max(problem.lengths), model.max_positions)
    # Of each pair of tokens: a mask, and what the two have in common, with a number for each head.
    pair = 16 + (48 + 10 * max(model.heads) if model.relations != "none" else 0)
    if not model.architecture.startswith(("lstm", "gru")) and longest**2 * pair > MOST_ATTENTION:
        raise ValueError(
            f"attention over {longest:,} tokens takes {longest**2 * pair / 2**30:.0f} GB an example, more than "
            f"{MOST_ATTENTION // 2**30}: choose smaller matrices or a shorter encoding"
        )
