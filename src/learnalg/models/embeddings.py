"""Tokens and positions to vectors. A new embedding is a class here and a line in one of the two dicts.

`features` uses the value of a token. An FP15 token is a number v; its embedding is a linear map of smooth functions of
v, so that close numbers have close embeddings from the first step. Tokens without a value (dimensions, tasks, padding)
have a learned row. High frequencies hide the signal: the shortest period is 3.2.

`ordered` is for the output, where a coefficient has several tokens: it knows which tokens are neighbours.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from learnalg.models.grid import MAX_GRID, Grid
from learnalg.models.seq2seq import Side


class Lookup(nn.Module):
    """A learned row for each token, as in the paper."""

    def __init__(self, side: Side, dim: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(side.vocab_size, dim))
        nn.init.normal_(self.weight, std=dim**-0.5)

    def forward(self, tokens_BL: Tensor) -> Tensor:
        return nn.functional.embedding(tokens_BL, self.weight)


def value_features(values: NDArray[np.floating]) -> NDArray[np.floating]:
    """(V,) -> (V, 18): sines and cosines at 8 periods from 3.2 to 100, the value, its signed logarithm."""
    phases = values[:, None] * (2 * np.pi / np.geomspace(3.2, 100, 8))
    linear = np.clip(values / 10, -10, 10)
    log = np.sign(values) * np.log1p(np.abs(values))
    return np.concatenate([np.sin(phases), np.cos(phases), linear[:, None], log[:, None]], axis=1)


class Features(nn.Module):
    """Smooth features of a token's value; tokens without one have a learned row."""

    features_VF: Tensor
    row_V: Tensor

    def __init__(self, side: Side, dim: int) -> None:
        super().__init__()
        if side.values is None:
            raise ValueError("feature embeddings need the tokens' values")
        is_number = ~np.isnan(side.values)
        features_VF = value_features(np.nan_to_num(side.values)) * is_number[:, None]
        # Tokens without a value have a row each; all others share row 0.
        row_V = np.cumsum(~is_number) * ~is_number
        self.register_buffer("features_VF", torch.tensor(features_VF, dtype=torch.float32), persistent=False)
        self.register_buffer("row_V", torch.tensor(row_V), persistent=False)
        self.project = nn.Linear(features_VF.shape[1], dim, bias=False)
        self.weight = nn.Parameter(torch.empty(int(row_V.max()) + 1, dim))
        nn.init.normal_(self.project.weight, std=features_VF.shape[1] ** -0.5)
        nn.init.normal_(self.weight, std=0.5)

    def forward(self, tokens_BL: Tensor) -> Tensor:
        embedded: Tensor = self.project(self.features_VF[tokens_BL])
        return embedded + nn.functional.embedding(self.row_V[tokens_BL], self.weight)


LONG_RANGE = 30  # tokens


def waves(phases: NDArray[np.floating]) -> NDArray[np.floating]:
    return np.concatenate([np.sin(phases), np.cos(phases)], axis=1)


def decade_features(values: NDArray[np.floating]) -> NDArray[np.floating]:
    """(V,) mantissas from 1 to 10 and their negatives -> (V, 14) or, if some are negative, (V, 28): 1, 2, 4, ... 64
    waves of their logarithm a decade, and these times the sign. Zero for smaller ones, which no number has."""
    is_mantissa = np.abs(values) > 0.999
    phases = 2 * np.pi * np.log10(np.where(is_mantissa, np.abs(values), 1.0))[:, None] * 2.0 ** np.arange(7)
    features = waves(phases) * is_mantissa[:, None]
    return np.concatenate([features, features * np.sign(values)[:, None]], axis=1) if (values < 0).any() else features


class Ordered(nn.Module):
    """A row for each token, smooth along ordered tokens: a linear map of sines and cosines of the token's place in its
    range, plus a learned row that starts near zero. The output shares it: an example with one mantissa teaches its
    neighbours too. Periods go from twice the range down to some 30 tokens, by halves. Tokens of shorter ranges have
    learned rows alone.

    With `decades` the map also has sines and cosines of the mantissa's logarithm, with whole waves in a decade: they
    depend on the logarithm of the number alone, whatever its exponent.
    """

    features_VF: Tensor

    def __init__(self, side: Side, dim: int, decades: bool = False) -> None:
        super().__init__()
        assert side.ordered is not None
        low_V, high_V = side.ordered.T
        size_V = high_V - low_V
        is_ordered = size_V >= LONG_RANGE
        halvings = np.arange(int(np.log2(size_V.max() / 7.5)))
        features_VF = waves(np.pi * ((np.arange(side.vocab_size) - low_V) / size_V)[:, None] * 2.0**halvings)
        if decades:
            if side.values is None or not (np.abs(side.values[is_ordered]) < 10).all():
                raise ValueError("embeddings of decades need tokens that are mantissas, as those of p1000 and b1999")
            features_VF = np.concatenate([features_VF, decade_features(np.where(is_ordered, side.values, 0.0))], axis=1)
        features_VF *= is_ordered[:, None]
        self.register_buffer("features_VF", torch.tensor(features_VF, dtype=torch.float32), persistent=False)
        self.project = nn.Linear(features_VF.shape[1], dim, bias=False)
        self.rows = nn.Parameter(torch.empty(side.vocab_size, dim))
        nn.init.normal_(self.project.weight, std=(dim * features_VF.shape[1] / 2) ** -0.5)  # as long as a row of Lookup
        nn.init.normal_(self.rows, std=dim**-0.5)
        with torch.no_grad():
            self.rows.mul_(torch.tensor(np.where(is_ordered, 0.1, 1.0), dtype=torch.float32)[:, None])

    @property
    def weight(self) -> Tensor:
        weight_VD: Tensor = self.project(self.features_VF) + self.rows
        return weight_VD

    def forward(self, tokens_BL: Tensor) -> Tensor:
        embedded: Tensor = self.project(self.features_VF[tokens_BL])
        return embedded + nn.functional.embedding(tokens_BL, self.rows)


def ordered(side: Side, dim: int) -> nn.Module:
    """A row for each token, smooth along ordered tokens; where these are few, such as digits, learned rows alone."""
    if side.ordered is None:
        raise ValueError("ordered embeddings need the ranges of ordered tokens")
    return Ordered(side, dim) if np.ptp(side.ordered, axis=1).max() >= LONG_RANGE else Lookup(side, dim)


def decades(side: Side, dim: int) -> nn.Module:
    """As `ordered`, and smooth along the logarithm, from decade to decade."""
    made = ordered(side, dim)
    return Ordered(side, dim, decades=True) if isinstance(made, Ordered) else made


class LearnedPositions(nn.Module):
    """A learned row for each position in the sequence, as in the paper."""

    def __init__(self, side: Side, dim: int, max_positions: int, shift: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(max_positions, dim))
        nn.init.normal_(self.weight, std=dim**-0.5)

    def forward(self, tokens_BL: Tensor, last_only: bool = False) -> Tensor:
        length = tokens_BL.shape[1]
        return self.weight[length - 1 if last_only else 0 : length]


class GridPositions(nn.Module):
    """Row, column and place within the coefficient, each with a learned table."""

    def __init__(self, side: Side, dim: int, max_positions: int, shift: int) -> None:
        super().__init__()
        self.grid = Grid(side, max_positions, shift)
        self.rows = nn.Parameter(torch.empty(MAX_GRID, dim))
        self.cols = nn.Parameter(torch.empty(MAX_GRID, dim))
        self.places = nn.Parameter(torch.empty(side.width + side.header, dim))
        for table in (self.rows, self.cols, self.places):
            nn.init.normal_(table, std=0.3)

    def forward(self, tokens_BL: Tensor, last_only: bool = False) -> Tensor:
        row_BL, col_BL = self.grid.coordinates(tokens_BL, last_only)
        return self.embed(row_BL, col_BL, self.grid.places(tokens_BL, last_only))

    def embed(self, row_BL: Tensor, col_BL: Tensor, place_L: Tensor) -> Tensor:
        embedding = nn.functional.embedding
        return embedding(row_BL, self.rows) + embedding(col_BL, self.cols) + embedding(place_L, self.places)


class OperandPositions(GridPositions):
    """As `grid`, for operands that stand side by side, such as M and N of M + N.

    Columns are counted within each operand, and each operand has a vector of its own. M[i, j] and N[i, j] then have the
    same row and column, whatever the size. This is for variable sizes; sums of one size gained nothing (docs/log.md).
    With one operand it is the grid.
    """

    def __init__(self, side: Side, dim: int, max_positions: int, shift: int) -> None:
        super().__init__(side, dim, max_positions, shift)
        self.operands = None
        if side.operands is not None:
            self.operands = nn.Parameter(torch.empty(int(side.operands[..., 0].max()) + 1, dim))
            nn.init.normal_(self.operands, std=0.3)

    def forward(self, tokens_BL: Tensor, last_only: bool = False) -> Tensor:
        row_BL, col_BL, operand_BL = self.grid.operand_coordinates(tokens_BL, last_only)
        embedded = self.embed(row_BL, col_BL, self.grid.places(tokens_BL, last_only))
        return embedded if self.operands is None else embedded + nn.functional.embedding(operand_BL, self.operands)


class PlacePositions(nn.Module):
    """Place within the coefficient or the header alone.

    With relations, a transformer's encoder then treats all rows alike, and all columns."""

    def __init__(self, side: Side, dim: int, max_positions: int, shift: int) -> None:
        super().__init__()
        self.grid = Grid(side, max_positions, shift)
        self.places = nn.Parameter(torch.empty(side.width + side.header, dim))
        nn.init.normal_(self.places, std=0.3)

    def forward(self, tokens_BL: Tensor, last_only: bool = False) -> Tensor:
        return nn.functional.embedding(self.grid.places(tokens_BL, last_only), self.places)


class NoPositions(nn.Module):
    """No positions: for recurrent networks, which read in order."""

    def __init__(self, side: Side, dim: int, max_positions: int, shift: int) -> None:
        super().__init__()

    def forward(self, tokens_BL: Tensor, last_only: bool = False) -> Tensor:
        return torch.zeros((1, 1), device=tokens_BL.device)


EMBEDDINGS: dict[str, Callable[[Side, int], nn.Module]] = {
    "lookup": Lookup,
    "features": Features,
    "ordered": ordered,
    "decades": decades,
}

OUTPUTS = ("lookup", "ordered", "decades")  # have `weight`, a row for each token, which the output shares

# Positions of all tokens, or of the last one only: decoding asks for one at a time.
POSITIONS: dict[str, Callable[[Side, int, int, int], nn.Module]] = {
    "learned": LearnedPositions,
    "grid": GridPositions,
    "operands": OperandPositions,
    "place": PlacePositions,
    "none": NoPositions,
}
