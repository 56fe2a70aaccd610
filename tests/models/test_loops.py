"""Loops are layers that share weights; gates and halting by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from learnalg.config import ModelConfig
from learnalg.data import Stream
from learnalg.models import Side, build, count_parameters, decoder_input, loops
from learnalg.models.layers import Bias
from learnalg.models.loops import PONDER_COST, CopyGate, Halting
from learnalg.problem import Problem
from learnalg.tokens.tokenizer import END, PAD
from learnalg.training.step import new_state, train_step

CONFIG = ModelConfig(encoder_layers=1, decoder_layers=1, dim_model=(16,), heads=(2,), max_positions=32)
SIDES = (Side(20, pad=PAD), Side(15, pad=PAD))
SOURCE = torch.tensor([[3, 4, 5, 6, PAD, PAD], [7, 8, 9, 10, 11, 12]])
TARGET = torch.tensor([[END, 3, 4, 8], [END, 5, PAD, PAD]])


def make(loop_gate: str = "none", encoder_loops: int = 4, **changes: Any) -> Any:
    """Weights are shaken: otherwise halting is the same for all tokens."""
    torch.manual_seed(0)
    architecture = f"transformer:loop_gate={loop_gate}"
    config = replace(CONFIG, architecture=architecture, encoder_loops=encoder_loops, **changes)
    model = build(config, *SIDES).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.2)
    return model


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize(("layers", "num_loops"), [((1, 1), (4, 1)), ((1, 1), (1, 3)), ((2, 1), (2, 3))])
@torch.inference_mode()
def test_loops_are_layers_with_the_same_weights(layers, num_loops, norm):
    model = make(
        norm=norm,
        encoder_layers=layers[0],
        decoder_layers=layers[1],
        encoder_loops=num_loops[0],
        decoder_loops=num_loops[1],
    )
    deep = make(
        norm=norm,
        encoder_loops=1,
        encoder_layers=layers[0] * num_loops[0],
        decoder_layers=layers[1] * num_loops[1],
    )
    weights = model.state_dict()
    for name in deep.state_dict():
        side, kind, *rest = name.split(".")
        shared = name
        if kind == "layers":
            at = 0 if side == "encoder" else 1
            own = f"{int(rest[0]) % layers[at]}.{'.'.join(rest[1:])}"
            shared = f"{side}.layers.0.layers.{own}" if num_loops[at] > 1 else f"{side}.layers.{own}"
        deep.state_dict()[name].copy_(weights[shared])
    torch.testing.assert_close(model(SOURCE, TARGET), deep(SOURCE, TARGET))


def test_loops_cost_no_parameters_and_gates_few():
    """Without a gate, those of the paper's formula for 1/1 layers, 512 dimensions, B1999: its last table's kind."""
    sides = Side(2322), Side(2322)

    def counted(gate: str = "none", **changes: Any) -> int:
        config = ModelConfig(f"transformer:loop_gate={gate}", encoder_layers=1, decoder_layers=1, **changes)
        return sum(count_parameters(config, *sides).values())

    d, w = 512, 2322
    formula = d * (w + 512 + 2) + ((w + 512 + 2) * d + w) + d * (12 * d + 13) + d * (14 * d + 2 * d + 19)
    assert counted() == counted(encoder_loops=4) == counted(encoder_loops=8, decoder_loops=4) == formula
    assert counted("act", encoder_loops=4) == formula + d + 1
    assert counted("copy", encoder_loops=4) == formula + d * (4 * d + 1) + 4 * d * (d + 1)
    assert counted("act", encoder_loops=4, decoder_loops=2) == formula + 2 * (d + 1)


@pytest.mark.parametrize(("loop_gate", "in_gates"), [("copy", {"up", "down"}), ("act", set())])
def test_hidden_matrices_are_those_of_shared_layers_and_gates_but_not_of_halting(loop_gate, in_gates):
    model = make(loop_gate)
    hidden = {id(parameter) for parameter in model.hidden_matrices()}
    names = {name for name, parameter in model.named_parameters() if id(parameter) in hidden}
    assert "encoder.layers.0.layers.0.attention.query.weight" in names
    expected = {f"encoder.layers.0.gate.feed_forward.{name}.weight" for name in in_gates}
    assert {name for name in names if ".gate." in name} == expected


# The copy gate.


@torch.inference_mode()
def test_a_closed_gate_copies_and_an_open_one_is_none():
    model = make(loop_gate="copy", encoder_loops=3)
    gate = model.encoder.layers[0].gate
    gate.feed_forward.down.bias.fill_(-1e4)
    torch.testing.assert_close(model.encoder(SOURCE, Bias()), model.encoder.embed(SOURCE))
    gate.feed_forward.down.bias.fill_(1e4)
    plain = make(loop_gate="none", encoder_loops=3)
    plain.load_state_dict({name: value for name, value in model.state_dict().items() if ".gate." not in name})
    torch.testing.assert_close(model.encoder(SOURCE, Bias()), plain.encoder(SOURCE, Bias()))


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_a_gate_starts_almost_closed(norm):
    torch.manual_seed(0)
    gate = CopyGate(replace(CONFIG, norm=norm), 16)
    after, ponder = gate(torch.zeros(50, 4, 16), lambda x, n: torch.ones_like(x), 1)
    assert ponder is None
    assert 0.03 < after.mean() < 0.07  # sigmoid(-3) is 0.047
    assert after.max() < 0.2


@torch.inference_mode()
def test_a_gate_mixes_each_token_and_dimension_by_its_own_share():
    torch.manual_seed(0)
    gate = CopyGate(CONFIG, 16)
    gate.feed_forward.down.bias.normal_()
    x, (first, second) = torch.randn(2, 3, 16), torch.randn(2, 2, 3, 16)
    after, _ = gate(x, lambda x, n: (first, second)[n], 2)
    for new in (first, second):
        share = torch.sigmoid(gate.feed_forward(new))
        x = (1 - share) * x + share * new
    torch.testing.assert_close(after, x)


# Halting.


def halt(probabilities: list[list[float]]) -> tuple[Tensor, Tensor]:
    """Loops n = 0, 1, ... at which token t halts with probabilities[t][n] -> weights of the loops (T, N), ponder (T,).

    A token's state after loop n is a unit vector of its own, so that the mean of the states shows the weights.
    """
    T, N = len(probabilities), len(probabilities[0])
    gate = Halting(CONFIG, T * N)
    units_TND = torch.eye(T * N).view(T, N, -1)
    with torch.no_grad():
        gate.weight_D.copy_(torch.tensor(probabilities).flatten().logit())
        gate.bias.zero_()
        mean_1TD, ponder_1T = gate(torch.zeros(1, T, T * N), lambda x, n: units_TND[None, :, n], N)
    weights_TN = torch.stack([mean_1TD[0, t].view(T, N)[t] for t in range(T)])
    torch.testing.assert_close(mean_1TD.sum(-1), torch.ones(1, T))  # and nothing of the others
    return weights_TN, ponder_1T[0]


@pytest.mark.parametrize(
    ("probabilities", "weights", "ponder"),
    [
        ([0.4, 0.4, 0.4, 0.4], [0.4, 0.4, 0.2, 0.0], 3 + 0.2),
        ([0.995, 0.5, 0.5, 0.5], [1.0, 0.0, 0.0, 0.0], 1 + 1.0),
        ([0.3, 0.8, 0.9, 0.9], [0.3, 0.7, 0.0, 0.0], 2 + 0.7),
        ([0.5, 0.495, 0.9, 0.9], [0.5, 0.5, 0.0, 0.0], 2 + 0.5),  # 0.99 is enough
        ([0.5, 0.485, 0.9, 0.9], [0.5, 0.485, 0.015, 0.0], 3 + 0.015),  # less is not
        ([0.1, 0.1, 0.1, 0.1], [0.1, 0.1, 0.1, 0.7], 4 + 0.7),  # the last loop takes the rest
    ],
)
def test_weights_and_ponder_cost_by_hand(probabilities, weights, ponder):
    found, cost = halt([probabilities])
    torch.testing.assert_close(found[0], torch.tensor(weights))
    torch.testing.assert_close(cost, torch.tensor([ponder]))


def test_the_weights_of_each_token_sum_to_one():
    torch.manual_seed(0)
    probabilities = torch.rand(40, 6) * torch.rand(40, 1)
    weights_TN, ponder_T = halt(probabilities.tolist())
    torch.testing.assert_close(weights_TN.sum(1), torch.ones(40))
    assert (weights_TN >= 0).all()
    num_loops = (weights_TN > 0).sum(1)
    assert set(num_loops.tolist()) >= {2, 3, 4, 5, 6}  # each token halts by itself
    remainders = weights_TN[torch.arange(40), num_loops - 1]
    torch.testing.assert_close(ponder_T, num_loops + remainders)


def test_a_token_that_has_halted_keeps_its_state():
    gate = Halting(CONFIG, 2)
    seen = []

    def once(x: Tensor, n: int) -> Tensor:
        seen.append(x[0].tolist())
        return x + 1

    with torch.no_grad():
        gate.weight_D.copy_(torch.tensor([10.0, 0.0]))
        gate.bias.fill_(-3.0)
        gate(torch.tensor([[[1.0, 0.0], [-9.0, 0.0]]]), once, 4)
    assert seen == [[[1, 0], [-9, 0]], [[2, 1], [-8, 1]], [[2, 1], [-7, 2]], [[2, 1], [-6, 3]]]


@torch.inference_mode()
def test_tokens_halt_by_what_came_before_them_and_in_decoding_as_in_training():
    model = make(loop_gate="act", decoder_loops=4)
    gate = model.decoder.layers[0].gate
    gate.weight_D.normal_()
    gate.bias.fill_(4.0)
    source, target = torch.randint(2, 15, (6, 5)), torch.randint(2, 15, (6, 8))
    logits = model(source, target)
    assert len(model.decoder.layers[0].ponder_BL.floor().unique()) >= 3  # tokens take different numbers of loops
    for length in range(1, 8):
        torch.testing.assert_close(model(source, target[:, :length]), logits[:, :length], atol=1e-5, rtol=1e-5)
    state = model.begin(source, 8)
    stepped = torch.stack([model.step(tokens, state) for tokens in target.T], dim=1)
    torch.testing.assert_close(stepped, logits, atol=1e-5, rtol=1e-5)


def test_halting_is_what_graves_starts_with():
    gate = Halting(CONFIG, 16)
    _, ponder = gate(torch.randn(2, 3, 16), lambda x, n: x, 4)
    p = 1 / (1 + torch.e**-1)
    torch.testing.assert_close(ponder, torch.full((2, 3), 2 + (1 - p)))


# The ponder cost in the loss.


def test_the_ponder_cost_by_hand():
    """Every token halts with probability 0.4: after three of four loops (remainder 0.2), and at the second of two."""
    model = make(loop_gate="act", decoder_loops=2)
    with torch.no_grad():
        for side in (model.encoder, model.decoder):
            side.layers[0].gate.weight_D.zero_()
            side.layers[0].gate.bias.copy_(torch.tensor([0.4]).logit())
    model(SOURCE, TARGET)
    torch.testing.assert_close(model.auxiliary_loss(SOURCE, TARGET), torch.tensor(PONDER_COST * (3.2 + 2.6)))


@torch.inference_mode()
def test_the_ponder_cost_is_a_mean_over_tokens_then_over_examples():
    model = make(loop_gate="act", decoder_loops=3)

    def cost(source: Tensor, target: Tensor) -> Tensor:
        model(source, target)
        return model.auxiliary_loss(source, target)

    both = cost(SOURCE, TARGET)
    alone = [cost(SOURCE[:1, :4], TARGET[:1]), cost(SOURCE[1:], TARGET[1:, :2])]
    torch.testing.assert_close(both, (alone[0] + alone[1]) / 2)
    assert abs(alone[0] - alone[1]) > 1e-5


@pytest.mark.parametrize("loop_gate", ["none", "copy"])
def test_without_halting_nothing_is_added(loop_gate):
    model = make(loop_gate=loop_gate, decoder_loops=2)
    model(SOURCE, TARGET)
    assert model.auxiliary_loss(SOURCE, TARGET) is None


def test_a_training_step_adds_the_ponder_cost(tiny_config, monkeypatch):
    """The gradients with its weight are those without it, and those of the cost itself."""
    gradients = []
    config = tiny_config(architecture="transformer:loop_gate=act", encoder_loops=4)
    batch = Stream(Problem(config.data), 1, "train", 8).batch(0)
    for weight in (0.0, 3.0):
        monkeypatch.setattr(loops, "PONDER_COST", weight)
        state = new_state(config, torch.device("cpu"))
        monkeypatch.setattr(state.optimizer, "step", lambda step: 0.0)
        train_step(state, batch)
        gradients.append({name: p.grad.clone() for name, p in state.model.named_parameters()})
    state.model.zero_grad()
    source, target = torch.from_numpy(batch.sources), decoder_input(torch.from_numpy(batch.targets))
    state.model(source, target)
    state.model.auxiliary_loss(source, target).backward()
    moved = set()
    for name, p in state.model.named_parameters():
        own = torch.zeros_like(p) if p.grad is None else p.grad
        torch.testing.assert_close(gradients[1][name] - gradients[0][name], own, atol=1e-5, rtol=1e-4)
        if (own != 0).any():
            moved.add(name)
    # Those that halting starts with; all others follow when its weight is no longer zero.
    assert moved == {"encoder.layers.0.gate.weight_D", "encoder.layers.0.gate.bias"}


# Learning.
