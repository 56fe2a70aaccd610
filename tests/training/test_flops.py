"""FLOPs: those of matrix products, counted by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from learnalg.config import RunConfig, replace_fields
from learnalg.models import build, sides
from learnalg.models.embeddings import POSITIONS
from learnalg.models.layers import FUSED_FROM
from learnalg.problem import Problem
from learnalg.training.flops import count_flops, flops_per_example

DIM, FFN = 8, 3
ONE_DIGIT = "floating:digits=1,exponents=-1:1"
# Transposes, one token a number: S = 2 + m n, and T = S + 1 with the end token. 10x10 has 102 keys, 9x9 has 83.
DIMS = ["1", "2x3", "9", "10"]


def config(dim: str, **changes: Any) -> RunConfig:
    fields = {"task": "transpose", "dim": dim, "input_encoding": ONE_DIGIT, "output_encoding": ONE_DIGIT}
    sizes = {"encoder_layers": 1, "decoder_layers": 1, "dim_model": DIM, "heads": 2, "ffn_factor": FFN}
    return replace_fields(RunConfig(), **fields | sizes | changes)


def built(run: RunConfig, device: str = "cpu") -> nn.Module:
    with torch.device(device):
        return build(run.model, *sides(Problem(run.data)))


def by_hand(run: RunConfig, encoder_layers: int = 1, decoder_layers: int = 1) -> int:
    """Two FLOPs a multiplication; the backward pass has two products for each of the forward pass."""
    S, T = Problem(run.data).lengths
    V = Problem(run.data).tokenizers[1].vocab_size
    encoder = 4 * S * DIM * DIM + 2 * S * S * DIM + 2 * FFN * S * DIM * DIM
    own = 4 * T * DIM * DIM + 2 * T * T * DIM
    cross = 2 * T * DIM * DIM + 2 * S * DIM * DIM + 2 * T * S * DIM
    decoder = own + cross + 2 * FFN * T * DIM * DIM
    return 3 * 2 * (encoder_layers * encoder + decoder_layers * decoder + T * DIM * V)


def test_a_linear_map_by_hand():
    class Linear(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.map = nn.Linear(4, 7)

        def forward(self, source: Tensor, target: Tensor, padded: bool) -> Tensor:
            return self.map(source)

    # Forward, and back to the weights; numbers that are given need no gradient.
    assert count_flops(Linear(), torch.zeros(5, 4), np.zeros((5, 3))) == 2 * 2 * (5 * 4 * 7)


def test_some_sequences_are_short_and_some_are_fused():
    lengths = [length for dim in DIMS for length in Problem(config(dim).data).lengths]
    assert min(lengths) < FUSED_FROM <= max(lengths)


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize("dim", DIMS)
def test_the_paper_s_transformer_by_hand(dim, device):
    run = config(dim)
    assert flops_per_example(built(run, device), run) == by_hand(run)


@pytest.mark.parametrize(("encoder_layers", "decoder_layers"), [(3, 1), (1, 2)])
def test_layers_cost_the_same_each(encoder_layers, decoder_layers):
    run = config("2", encoder_layers=encoder_layers, decoder_layers=decoder_layers)
    assert flops_per_example(built(run), run) == by_hand(run, encoder_layers, decoder_layers)


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_features_cost_one_product_there_and_one_back(device):
    run = config("2", input_embedding="features", positions="grid")
    assert flops_per_example(built(run, device), run) == by_hand(run) + 2 * 2 * (
        Problem(run.data).lengths[0] * 18 * DIM
    )


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize("positions", POSITIONS)
def test_positions_cost_no_product(positions, device):
    run = config("2", task="add", positions=positions)
    assert flops_per_example(built(run, device), run) == by_hand(run)


def test_a_batch_costs_as_much_as_its_examples():
    run = config("2")
    source_BS, target_BT = torch.full((6, 6), 20), torch.full((6, 7), 20)
    model = built(run)
    assert count_flops(model, source_BS, target_BT) == 6 * by_hand(run)
    assert count_flops(model, source_BS.numpy(), target_BT.numpy()) == 6 * by_hand(run)


def test_counting_leaves_the_model_as_it_was():
    run = config("2")
    model = built(run).train()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    flops_per_example(model, run)
    assert all(parameter.grad is None for parameter in model.parameters())
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())
    assert model.training
