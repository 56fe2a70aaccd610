"""Schedules by hand, Muon by its properties, Adam against torch's, and states that go on bit for bit."""

from __future__ import annotations

import copy
import math
from collections import OrderedDict
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from learnalg.config import OptimConfig
from learnalg.models import Side, build
from learnalg.training.optim import QUINTICS, Muon, Optimizer, orthogonalise, rate, soft_width
from learnalg.config.presets import PRESETS

N = 1000  # steps of the run
WARM: dict[str, Any] = {"warmup_steps": 100, "learning_rate": 1e-3}
SCHEDULES = {
    "constant": OptimConfig(schedule="constant", **WARM),
    "inverse-sqrt": OptimConfig(schedule="inverse-sqrt", **WARM),
    "cosine": OptimConfig(schedule="cosine", min_learning_rate=1e-4, **WARM),
    "cosine-period": OptimConfig(schedule="cosine", min_learning_rate=1e-4, schedule_steps=300, **WARM),
    "linear": OptimConfig(schedule="linear", cooldown=0.5, **WARM),
    "linear-fifth": OptimConfig(schedule="linear", cooldown=0.2, **WARM),
}
every_schedule = pytest.mark.parametrize("config", SCHEDULES.values(), ids=SCHEDULES)


@every_schedule
@pytest.mark.parametrize(("step", "share"), [(0, 0.01), (1, 0.02), (49, 0.5), (98, 0.99), (99, 1.0)])
def test_the_warm_up_is_a_line_from_one_step_to_all(config, step, share):
    assert rate(config, step, N) == pytest.approx(share)


@pytest.mark.parametrize(
    ("name", "step", "share"),
    [
        ("constant", 100, 1.0),
        ("constant", 999, 1.0),
        ("inverse-sqrt", 100, math.sqrt(100 / 101)),
        ("inverse-sqrt", 399, 0.5),
        ("inverse-sqrt", 899, 1 / 3),
        ("cosine", 100, 1.0),
        ("cosine", 550, 0.55),  # half of the way, half between 1 and 0.1
        ("cosine", 400, 0.1 + 0.9 * 0.75),  # a third: cos 60 degrees is 1/2
        ("cosine", 1000, 0.1),
        ("cosine-period", 250, 0.55),
        ("cosine-period", 400, 0.1),
        ("cosine-period", 999, 0.1),  # and stays there
        ("linear", 100, 1.0),
        ("linear", 500, 1.0),
        ("linear", 750, 0.5),
        ("linear", 999, 0.002),  # the last step
        ("linear", 1000, 0.0),
        ("linear-fifth", 800, 1.0),
        ("linear-fifth", 900, 0.5),
        ("linear-fifth", 999, 0.005),
    ],
)
def test_rates_behind_the_warm_up(name, step, share):
    assert rate(SCHEDULES[name], step, N) == pytest.approx(share, abs=1e-12)


@every_schedule
def test_the_rate_is_a_function_of_the_step_alone(config):
    forwards = [rate(config, step, N) for step in range(N)]
    assert [rate(config, step, N) for step in reversed(range(N))] == forwards[::-1]
    assert all(0 < share <= 1 for share in forwards)
    assert all(abs(after - before) < 0.011 for before, after in pairwise(forwards))  # no jumps
    assert forwards[99:] == sorted(forwards[99:], reverse=True)


@every_schedule
def test_without_a_warm_up_the_first_step_is_at_the_full_rate(config):
    assert rate(replace(config, warmup_steps=0), 0, N) == 1.0


@every_schedule
def test_a_run_shorter_than_its_warm_up_rises_to_the_end(config):
    assert [rate(config, step, 4) for step in range(4)] == [0.25, 0.5, 0.75, 1.0]


def random_matrices(num: int, rows: int, cols: int, condition: float = 20.0) -> Tensor:
    """Singular values spread from 1 to 1 / condition, evenly in their logarithms."""
    generator = torch.Generator().manual_seed(0)
    u, _, v = torch.linalg.svd(torch.randn(num, rows, cols, generator=generator), full_matrices=False)
    sizes = torch.logspace(0, -math.log10(condition), min(rows, cols))
    return (u * sizes) @ v


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize(("rows", "cols"), [(16, 16), (32, 8), (8, 32), (1, 8), (8, 1)])
def test_orthogonalised_matrices_have_singular_values_near_one(rows, cols, scale):
    matrices = scale * random_matrices(3, rows, cols, condition=100.0)
    out = orthogonalise(matrices)
    assert out.shape == matrices.shape
    values = torch.linalg.svdvals(out)
    assert values.min() > 0.79
    assert values.max() < 1.21


def test_wide_matrices_are_orthogonalised_as_in_double_precision_where_they_are_not_multiplied_once():
    matrices = random_matrices(3, 16, 64, condition=300.0)
    expected = orthogonalise(matrices.double()).float()
    torch.testing.assert_close(orthogonalise(matrices), expected, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("condition", [1.0, 100.0])
def test_in_bf16_nothing_grows(condition):
    matrices = random_matrices(2, 64, 64, condition).bfloat16()
    assert torch.linalg.svdvals(orthogonalise(matrices).float()).max() < 1.5


def test_each_polynomial_misses_one_equally_often_above_and_below():
    low, high = 0.003, 1.0
    for a, b, c in QUINTICS:
        x = torch.linspace(low, high, 100_001, dtype=torch.float64)
        values = a * x + b * x**3 + c * x**5
        assert 1 - values.min() == pytest.approx(float(values.max() - 1), rel=1e-3)
        low, high = float(values.min()), float(values.max())
    assert low > 0.79


@pytest.mark.parametrize(("rows", "cols"), [(16, 16), (32, 8), (8, 32)])
def test_orthogonalising_keeps_the_singular_vectors(rows, cols):
    matrices = random_matrices(3, rows, cols, condition=5.0)
    u, _, v = torch.linalg.svd(matrices, full_matrices=False)
    inside = u.mT @ orthogonalise(matrices) @ v.mT
    off = inside - torch.diag_embed(torch.diagonal(inside, dim1=-2, dim2=-1))
    assert off.abs().max() < 1e-3
    assert torch.diagonal(inside, dim1=-2, dim2=-1).min() > 0.6


@pytest.mark.parametrize(("rows", "cols"), [(12, 12), (20, 6), (6, 20)])
def test_orthogonalising_a_batch_is_orthogonalising_each(rows, cols):
    matrices = random_matrices(4, rows, cols) * torch.tensor([1.0, 10.0, 0.1, 3.0])[:, None, None]
    torch.testing.assert_close(orthogonalise(matrices), torch.stack([orthogonalise(m[None])[0] for m in matrices]))


def test_the_orthogonal_matrix_of_zero_is_zero():
    assert (orthogonalise(torch.zeros(2, 3, 4)) == 0).all()


@pytest.mark.parametrize("shape", [(8, 8), (16, 4), (4, 16)])
def test_muon_decreases_a_quadratic(shape):
    torch.manual_seed(0)
    goal, weight = torch.randn(shape), nn.Parameter(torch.zeros(shape))
    optimizer = Muon([weight], lr=0.05)
    losses = []
    for _ in range(80):
        loss = (weight - goal).square().sum()
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert losses[10] < losses[0]
    assert losses[-1] < 0.1 * losses[0]


@pytest.mark.parametrize(("shape", "scale"), [((8, 8), 1.0), ((32, 8), 2.0), ((8, 32), 1.0)])
def test_muons_first_step_is_an_orthogonal_matrix_scaled_by_its_shape(shape, scale):
    weight = nn.Parameter(torch.ones(shape))
    weight.grad = random_matrices(1, *shape, condition=3.0)[0]
    Muon([weight], lr=0.1, weight_decay=0.5).step()
    update = (weight.detach() - (1 - 0.1 * 0.5)) / (-0.1 * scale)
    torch.testing.assert_close(update, orthogonalise(weight.grad[None])[0], atol=1e-4, rtol=1e-3)


def test_muon_steps_of_one_shape_together_are_steps_alone():
    torch.manual_seed(0)
    together = [nn.Parameter(torch.randn(6, 4)) for _ in range(3)] + [nn.Parameter(torch.randn(4, 6))]
    alone = copy.deepcopy(together)
    optimizers = [Muon(together, lr=0.1), *(Muon([weight], lr=0.1) for weight in alone)]
    for _ in range(3):
        for one, other in zip(together, alone, strict=True):
            one.grad = torch.randn_like(one)
            other.grad = one.grad.clone()
        for optimizer in optimizers:
            optimizer.step()
    for one, other in zip(together, alone, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("shape", [(16, 48), (64, 64), (96, 32)])
@pytest.mark.parametrize("rank", [1, 16])
def test_muon_in_bf16_moves_nearly_the_same_way(shape, rank):
    """Also where all of the gradient is in one direction, whose singular value is the whole norm."""
    torch.manual_seed(0)
    for _ in range(10):
        gradient = torch.randn(shape[0], rank) @ torch.randn(rank, shape[1])
        moved = {}
        for bf16 in (False, True):
            weight = nn.Parameter(torch.zeros(shape))
            weight.grad = gradient.clone()
            Muon([weight], lr=1.0, bf16=bf16).step()
            moved[bf16] = weight.detach().flatten()
            assert weight.dtype == torch.float32
            assert torch.linalg.matrix_norm(weight.detach(), 2) < 4 * math.sqrt(max(1, shape[0] / shape[1]))
        assert torch.cosine_similarity(moved[True], moved[False], dim=0) > 0.6


def test_muon_leaves_weights_without_a_gradient():
    weights = [nn.Parameter(torch.ones(3, 3)), nn.Parameter(torch.ones(3, 3))]
    weights[1].grad = torch.eye(3)
    Muon(weights, lr=0.1, weight_decay=0.1).step()
    assert (weights[0] == 1).all()
    assert (weights[1] != 1).any()


def fast_model() -> nn.Module:
    torch.manual_seed(0)
    config = replace(PRESETS["fast"].model, encoder_layers=2, dim_model=16, heads=2)
    values = torch.arange(30.0).numpy()
    ordered = torch.tensor([[0, 30]] * 30).numpy()
    return build(config, Side(30, values=values), Side(30, ordered=ordered))


def names(model: nn.Module, part: torch.optim.Optimizer) -> set[str]:
    by_id = {id(p): name for name, p in model.named_parameters()}
    return {by_id[id(p)] for group in part.param_groups for p in group["params"]}


def test_muon_moves_the_hidden_matrices_and_adamw_the_rest():
    model = fast_model()
    muon, adamw = Optimizer(PRESETS["fast"].optim, model, N).parts
    assert type(muon) is Muon
    assert type(adamw) is torch.optim.AdamW
    attention = [f"{kind}.weight" for kind in ("query", "key", "value", "out")]
    hidden = [*(f"attention.{name}" for name in attention), "feed_forward.up.weight", "feed_forward.down.weight"]
    products = [f"products.{name}.weight" for name in ("left", "right", "out")]
    expected = {f"encoder.layers.{k}.{name}" for k in (0, 1) for name in (*hidden, *products)}
    expected |= {f"decoder.layers.0.{name}" for name in (*hidden, *(f"cross.{name}" for name in attention))}
    assert names(model, muon) == expected
    assert names(model, adamw) == {name for name, _ in model.named_parameters()} - expected
    assert {
        "encoder.embed.words.weight",
        "encoder.embed.words.project.weight",
        "encoder.embed.positions.rows",
        "encoder.layers.0.around_attention.norm.weight",
        "decoder.embed.words.rows",
        "decoder.embed.words.project.weight",
        "decoder.bias",
    } < names(model, adamw)


@pytest.mark.parametrize(("kind", "expected"), [("adam", torch.optim.Adam), ("adamw", torch.optim.AdamW)])
def test_adam_moves_everything(kind, expected):
    model = fast_model()
    (part,) = Optimizer(replace(PRESETS["paper"].optim, optimizer=kind), model, N).parts
    assert type(part) is expected
    assert names(model, part) == {name for name, _ in model.named_parameters()}


def toy() -> nn.Module:
    """A function to fit; the weight of its first layer counts as a hidden matrix, by its name."""
    torch.manual_seed(0)
    body = nn.Sequential(OrderedDict(layers=nn.Sequential(nn.Linear(4, 4), nn.Tanh())))
    return nn.Sequential(OrderedDict(body=body, head=nn.Linear(4, 2)))


def backward(model: nn.Module, step: int, size: float = 1.0) -> None:
    x = torch.randn(16, 4, generator=torch.Generator().manual_seed(step))
    loss = size * (model(x) - x[:, :2].flip(1)).square().mean()
    loss.backward()


def weights(model: nn.Module) -> dict[str, Tensor]:
    return {name: p.detach().clone() for name, p in model.named_parameters()}


def train(model: nn.Module, optimizer: Optimizer, steps: range) -> None:
    for step in steps:
        backward(model, step)
        optimizer.step(step)


@pytest.mark.parametrize("kind", ["adam", "adamw"])
def test_adam_is_torchs_with_the_rate_of_the_schedule(kind):
    config = OptimConfig(
        optimizer=kind, learning_rate=0.01, warmup_steps=5, beta1=0.8, beta2=0.95, eps=1e-6, clip=0.0, weight_decay=0.1
    )
    ours, theirs = toy(), toy()
    optimizer = Optimizer(config, ours, 20)
    decay = {"weight_decay": 0.1} if kind == "adamw" else {}  # the decay is AdamW's
    options: dict[str, Any] = {"betas": (0.8, 0.95), "eps": 1e-6, "foreach": False, "fused": False, **decay}
    reference = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[kind](theirs.parameters(), lr=0.01, **options)
    for step in range(20):
        backward(theirs, step)
        reference.param_groups[0]["lr"] = 0.01 * min(1.0, (step + 1) / 5)
        reference.step()
        reference.zero_grad()
    train(ours, optimizer, range(20))
    torch.testing.assert_close(weights(ours), weights(theirs), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("clip", "size"), [(0.0, 100.0), (0.5, 100.0), (0.5, 1e-3)], ids=["off", "large", "small"])
def test_gradients_are_clipped_to_their_norm_over_all_parameters(clip, size):
    """Seen in Adam's first moment, which after one step is (1 - beta1) times the gradient."""
    model = toy()
    optimizer = Optimizer(OptimConfig(clip=clip, beta1=0.9), model, N)
    backward(model, 0, size)
    gradients = [p.grad.clone() for p in model.parameters()]
    norm = torch.stack([g.norm() for g in gradients]).norm()
    factor = min(1.0, clip / norm.item()) if clip else 1.0
    assert (factor < 1) == (clip == 0.5 and size == 100.0)
    optimizer.step(0)
    moments = optimizer.state_tensors()
    for k, gradient in enumerate(gradients):
        torch.testing.assert_close(moments[f"0.{k}.exp_avg"] / 0.1, factor * gradient, rtol=1e-4, atol=1e-7)


def test_both_parts_are_clipped_together():
    model = toy()
    optimizer = Optimizer(OptimConfig(optimizer="muon", clip=0.5), model, N)
    backward(model, 0, 100.0)
    optimizer.step(0)
    moments = optimizer.state_tensors()
    hidden = moments["0.0.momentum"] / 0.05
    rest = [value / 0.1 for name, value in moments.items() if name.endswith(".exp_avg")]
    norm = torch.stack([hidden.norm(), *(gradient.norm() for gradient in rest)]).norm()
    torch.testing.assert_close(norm, torch.tensor(0.5), rtol=1e-3, atol=0)


def test_a_step_drops_the_gradients():
    model = toy()
    optimizer = Optimizer(OptimConfig(optimizer="muon"), model, N)
    train(model, optimizer, range(1))
    assert all(p.grad is None for p in model.parameters())


def test_each_part_has_its_own_highest_rate():
    config = OptimConfig(optimizer="muon", learning_rate=1e-3, muon_learning_rate=0.05, warmup_steps=10)
    model = toy()
    optimizer = Optimizer(config, model, N)
    for step, share in ((0, 0.1), (4, 0.5), (0, 0.1), (50, 1.0)):
        train(model, optimizer, range(step, step + 1))
        rates = [part.param_groups[0]["lr"] for part in optimizer.parts]
        assert rates == pytest.approx([0.05 * share, 1e-3 * share])


def test_frozen_weights_stay():
    model = toy()
    model.head.bias.requires_grad_(False)
    before = weights(model)
    train(model, Optimizer(OptimConfig(optimizer="adamw", weight_decay=0.1, warmup_steps=0), model, N), range(3))
    stays = {name for name, value in weights(model).items() if torch.equal(value, before[name])}
    assert stays == {"head.bias"}


@pytest.mark.parametrize("kind", ["adam", "adamw", "muon"])
def test_stopping_and_going_on_is_not_stopping(kind):
    config = OptimConfig(optimizer=kind, learning_rate=0.01, warmup_steps=4, schedule="cosine", weight_decay=0.01)
    model = toy()
    optimizer = Optimizer(config, model, 12)
    train(model, optimizer, range(6))
    saved = {name: value.clone() for name, value in optimizer.state_tensors().items()}
    resumed = copy.deepcopy(model)
    train(model, optimizer, range(6, 12))

    without = copy.deepcopy(resumed)
    again = Optimizer(config, resumed, 12)
    again.load_state_tensors(saved)
    train(resumed, again, range(6, 12))
    assert all(torch.equal(value, weights(model)[name]) for name, value in weights(resumed).items())

    train(without, Optimizer(config, without, 12), range(6, 12))  # the state does matter
    assert not any(torch.equal(value, weights(model)[name]) for name, value in weights(without).items())


@pytest.mark.parametrize(("kind", "moments"), [("adam", {"exp_avg", "exp_avg_sq", "step"}), ("muon", {"momentum"})])
def test_state_tensors_hold_every_moment_of_every_parameter(kind, moments):
    model = toy()
    optimizer = Optimizer(OptimConfig(optimizer=kind), model, N)
    assert optimizer.state_tensors() == {}
    train(model, optimizer, range(1))
    tensors = optimizer.state_tensors()
    assert all(isinstance(value, Tensor) for value in tensors.values())
    count = sum(len(group["params"]) for group in optimizer.parts[0].param_groups)
    assert {name for name in tensors if name.startswith("0.")} == {f"0.{k}.{m}" for k in range(count) for m in moments}


@pytest.mark.parametrize("kind", ["adam", "adamw", "muon"])
def test_it_learns(kind):
    model = toy()
    config = OptimConfig(optimizer=kind, learning_rate=0.05, muon_learning_rate=0.05, warmup_steps=5)
    optimizer = Optimizer(config, model, 100)
    x = torch.randn(64, 4, generator=torch.Generator().manual_seed(1000))

    def error() -> float:
        return (model(x) - x[:, :2].flip(1)).square().mean().item()

    before = error()
    train(model, optimizer, range(100))
    assert error() < 0.2 * before


def test_the_soft_width_shrinks_by_equal_factors_over_the_cool_down():
    config = OptimConfig(soft_width=4.0, soft_width_end=0.25, cooldown=0.5)
    assert [soft_width(config, step, 100) for step in (0, 50, 75, 100)] == pytest.approx([4.0, 4.0, 1.0, 0.25])
    assert soft_width(OptimConfig(soft_width=4.0), 99, 100) == 4.0
