"""The pairs of a file as a run needs them: checked, split, and in an order that depends on seed and index only.

    >>> config = with_file(DataConfig(task="pairs", data="pairs.jsonl"))    # sizes, scale and SHA-256 of the file
    >>> given(config).num("test")
    62

The splits are those of random matrices: a hash of the input, as the model reads it, decides (decision 004).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from learnalg.config import DataConfig
from learnalg.config.data import SHA256
from learnalg.files import checksum
from learnalg.pairs import Block, check_size, read_pairs
from learnalg.problem import Problem
from learnalg.problems import PAIRS
from learnalg.problems.pairs import shapes_as_options
from learnalg.splits import SPLITS, belongs
from learnalg.tokens.encoding import Floats, Ints
from learnalg.tokens.tokenizer import Tokenizer

_ORDER = 23  # separates the order of pairs from other draws under the same seed


@dataclass(frozen=True)
class Part:
    """Pairs of one task and one size."""

    task: int  # index into the config's tasks
    dims: tuple[int, int]
    inputs: Floats  # (num, rows, cols), operands side by side, not rounded
    output: Floats
    splits: dict[str, Ints]  # split -> its rows


Chosen = tuple[Part, Ints, Ints]  # rows of a part, and their places in a batch


@dataclass
class Given:
    parts: list[Part]
    _passes: dict[tuple[int, int, int], list[Ints]] = field(default_factory=dict)

    def num(self, split: str) -> int:
        return sum(len(part.splits[split]) for part in self.parts)

    def to_train(self, seed: int, index: int, size: int) -> Chosen:
        """Batch i of training. In a pass, each pair comes once, in another order than before. Pairs of one size that do
        not fill their last batch are filled up with some that have come already."""
        batches = np.array([-(-len(part.splits["train"]) // size) for part in self.parts])
        number, place = divmod(index, int(batches.sum()))
        orders = self._pass(seed, number, int(batches.sum()))
        batch = int(orders[0][place])
        k = int(np.searchsorted(np.cumsum(batches), batch, side="right"))
        start = (batch - int(batches[:k].sum())) * size
        rows = self.parts[k].splits["train"][orders[1 + k]]
        return self.parts[k], np.resize(rows, batches[k] * size)[start : start + size], np.arange(size)

    def _pass(self, seed: int, number: int, num_batches: int) -> list[Ints]:
        """The order of the batches of a pass, then that of the pairs of each part."""
        key = (seed, number, num_batches)
        found = self._passes.get(key)
        if found is None:
            rng = np.random.default_rng([seed, _ORDER, number])
            sizes = [num_batches, *(len(part.splits["train"]) for part in self.parts)]
            found = [rng.permutation(num) for num in sizes]
            self._passes = {**dict(list(self._passes.items())[-1:]), key: found}  # batches are made ahead, in threads
        return found

    def held_out(self, split: str, seed: int, index: int, size: int) -> list[Chosen]:
        """Batch i of a split that is not trained on, each pair once."""
        which = np.concatenate([np.full(len(part.splits[split]), k) for k, part in enumerate(self.parts)])
        rows = np.concatenate([part.splits[split] for part in self.parts])
        order = np.random.default_rng([seed, _ORDER, SPLITS.index(split)]).permutation(len(rows))
        chosen = order[index * size : (index + 1) * size]
        places = [np.flatnonzero(which[chosen] == k) for k in range(len(self.parts))]
        return [(self.parts[k], rows[chosen][at], at) for k, at in enumerate(places) if len(at)]


@lru_cache(maxsize=4)
def given(config: DataConfig) -> Given:
    """The pairs of a config's file, once for each config: a run keeps what it began with."""
    path, problem = check_file(config), Problem(config)
    parts = [_part(problem, path, block) for block in _blocks(path, config.file[1] or checksum(path))]
    found = Given(parts)
    for split in SPLITS:
        if not found.num(split):
            total = sum(len(part.inputs) for part in parts)
            raise ValueError(
                f"{path}: none of its {total:,} pairs belongs to the split {split!r}; a sixteenth of all inputs is for "
                f"validation and another one for the test, so it needs more pairs"
            )
    return found


def _part(problem: Problem, path: Path, block: Block) -> Part:
    names = [name for name, _ in problem.tasks]
    nobody = np.ones(len(block.rows), dtype=bool)
    if block.task not in names and (block.task or len(names) > 1):
        block.refuse(path, nobody, f"task {block.task!r}: this run has {', '.join(names)}")
    index = names.index(block.task) if block.task else 0
    task = problem.tasks[index][1]
    m, n = block.operands[0]
    wanted = ((*task.operands(m, n), task.output_shape(m, n)), (*block.operands, block.output.shape[1:]))
    if wanted[0] != wanted[1]:
        shapes = [" and ".join("x".join(map(str, shape)) for shape in some) for some in wanted]
        block.refuse(path, nobody, f"matrices of {shapes[1]}, where task {names[index]} has {shapes[0]}")
    if not problem.dims.admits(m, n):
        block.refuse(path, nobody, f"a {m}x{n} matrix, where dim is {problem.config.dim}")
    inputs = np.concatenate(block.inputs, axis=2) if len(block.inputs) > 1 else block.inputs[0]
    if task.symmetric:
        skew = np.abs(inputs - inputs.swapaxes(1, 2)).max(axis=(1, 2)) > 1e-6 * np.abs(inputs).max(axis=(1, 2))
        block.refuse(path, skew, f"the matrix is not symmetric, as task {names[index]} needs it")
    seen, _ = (
        _rounded(path, block, tokenizer, matrices)
        for tokenizer, matrices in zip(problem.tokenizers, (inputs, block.output), strict=True)
    )
    block.refuse(path, ~task.accept(seen), f"task {names[index]} has no solution for this matrix, as it is rounded")
    splits = {split: np.flatnonzero(belongs(seen, split)) for split in SPLITS}
    return Part(index, (m, n), inputs, block.output, splits)


def _rounded(path: Path, block: Block, tokenizer: Tokenizer, matrices: Floats) -> Floats:
    """As the tokens say it."""
    encoding, coefficients = tokenizer.encoding, matrices.reshape(len(matrices), -1)
    try:
        numbers, is_number = encoding.decode(encoding.encode(coefficients))
    except ValueError as error:
        largest = np.abs(coefficients).max(axis=1)
        block.refuse(path, largest == largest.max(), str(error))
        raise
    block.refuse(path, ~is_number.all(axis=1), f"a coefficient is too large for {tokenizer.encoding_name}")
    return numbers.reshape(matrices.shape)


@lru_cache(maxsize=1)
def _blocks(path: Path, sha256: str) -> list[Block]:
    """What is in a file with this content: a run asks twice."""
    return read_pairs(path)


def check_file(config: DataConfig) -> Path:
    """Refuses a file that is not the one that the run began with."""
    name, sha256 = config.file
    path = Path(name)
    if not path.is_file():
        raise ValueError(f"{path}: no such file, and the pairs in it are needed")
    check_size(path)
    if sha256 and checksum(path) != sha256:
        raise ValueError(f"{path} has changed: its SHA-256 is another one than {sha256[:12]}..., that of the run")
    return path


def with_file(config: DataConfig) -> DataConfig:
    """What a run's config says of its file: the SHA-256, the sizes and the scale of its matrices, and their shapes
    where no task is named."""
    if not config.data or config.file[1]:
        return config
    path = check_file(config)
    sha256 = checksum(path)
    blocks = _blocks(path, sha256)
    sizes = [block.operands[0] for block in blocks]
    default, task = DataConfig(), config.task
    if task == PAIRS:
        task = _shapes(path, blocks)
    return replace(
        config,
        data=f"{path}{SHA256}{sha256}",
        task=task,
        dim=_dim(sizes) if config.dim == default.dim else config.dim,
        amplitude=_amplitude(blocks) if config.amplitude == default.amplitude else config.amplitude,
    )


def _shapes(path: Path, blocks: list[Block]) -> str:
    operands = [block.operands for block in blocks]
    for block in blocks:
        if len(block.operands) != len(operands[0]) or block.task != blocks[0].task:
            everything = np.ones(len(block.rows), dtype=bool)
            block.refuse(path, everything, "another task or number of inputs than before: name the tasks with --task")
    try:
        return shapes_as_options([some[0] for some in operands], operands, [block.output.shape[1:] for block in blocks])
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _dim(sizes: list[tuple[int, int]]) -> str:
    ranges = [(min(side), max(side)) for side in zip(*sizes, strict=True)]
    texts = [f"{low}" if low == high else f"{low}-{high}" for low, high in ranges]
    return texts[0] if all(m == n for m, n in sizes) else "x".join(texts)


def _amplitude(blocks: list[Block]) -> tuple[float, float]:
    """As A of coefficients uniform in [-A, A], from the smallest matrix to the largest."""
    matrices = [matrices for block in blocks for matrices in block.inputs]
    largest = max(float(np.abs(stack).max()) for stack in matrices) or 1.0
    roots = [np.sqrt(3 * np.square(stack / largest).mean(axis=(1, 2))) for stack in matrices]
    scales = largest * np.concatenate(roots)
    scales = scales[scales > 0] if scales.any() else np.ones(1)
    return float(scales.min()), float(max(scales.max(), largest))
