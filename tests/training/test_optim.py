"""Schedules by hand, Muon by its properties, Adam against torch's; the state of every optimiser."""

from __future__ import annotations

import copy
import math
from collections import OrderedDict
from itertools import pairwise
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from learnalg.config import RunConfig, StageConfig, replace_fields
from learnalg.config.presets import PRESETS, preset
from learnalg.models import Side, build
from learnalg.training.muon import QUINTICS, Muon, orthogonalise
from learnalg.training.optim import OPTIMIZERS, SCHEDULES, Optimizer, learning_rate_share

N = 1000  # steps of the run


def run_of(num_steps: int = N, **fields: Any) -> RunConfig:
    """The config of a run of so many steps."""
    return replace_fields(
        RunConfig(), **{"examples": num_steps, "batch_size": 1, "clip": 0.0, "warmup_steps": 0} | fields
    )


WARM: dict[str, Any] = {"warmup_steps": 100, "learning_rate": 1e-3}
CASES = {
    "constant": run_of(schedule="constant", **WARM),
    "inverse-sqrt": run_of(schedule="inverse-sqrt", **WARM),
    "cosine": run_of(schedule="cosine:lowest=1e-4", **WARM),
    "cosine-period": run_of(schedule="cosine:lowest=1e-4,period=300", **WARM),
    "linear": run_of(schedule="linear", **WARM),
    "linear-fifth": run_of(schedule="linear:cooldown=0.2", **WARM),
}
every_case = pytest.mark.parametrize("config", CASES.values(), ids=CASES)


def shares(config: RunConfig) -> list[float]:
    return [learning_rate_share(config, step) for step in range(config.train.num_steps)]


def test_every_schedule_has_a_case():
    assert {case.optim.schedule.partition(":")[0] for case in CASES.values()} == set(SCHEDULES)


@every_case
@pytest.mark.parametrize(("step", "share"), [(0, 0.01), (1, 0.02), (49, 0.5), (98, 0.99), (99, 1.0)])
def test_the_warm_up_is_a_line_from_one_step_to_all(config, step, share):
    assert learning_rate_share(config, step) == pytest.approx(share)


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
def test_learning_rates_after_the_warm_up(name, step, share):
    assert learning_rate_share(CASES[name], step) == pytest.approx(share, abs=1e-12)


@every_case
def test_the_learning_rate_is_a_function_of_the_step_alone(config):
    forwards = shares(config)
    assert [learning_rate_share(config, step) for step in reversed(range(N))] == forwards[::-1]
    assert all(0 < share <= 1 for share in forwards)
    assert all(abs(after - before) < 0.011 for before, after in pairwise(forwards))  # no jumps
    assert forwards[99:] == sorted(forwards[99:], reverse=True)


@every_case
def test_without_a_warm_up_the_first_step_has_the_highest_learning_rate(config):
    assert learning_rate_share(replace_fields(config, warmup_steps=0), 0) == 1.0


@every_case
def test_a_run_shorter_than_its_warm_up_rises_to_the_end(config):
    assert shares(replace_fields(config, examples=4)) == [0.25, 0.5, 0.75, 1.0]


def test_a_cosine_may_restart():
    found = shares(run_of(40, schedule="cosine:period=10,restarts=true"))
    assert found == pytest.approx(found[:10] * 4)
    assert found[0] == 1.0 and found[9] < 0.03


def test_a_stage_multiplies_the_learning_rate_of_its_steps_in_the_warm_up_too():
    stages = (StageConfig(6, dim="2", rate=0.5), StageConfig(10, dim="3"), StageConfig(4, dim="4", rate=3.0))
    plain = run_of(40, warmup_steps=4, schedule="linear")
    factors = [0.5] * 6 + [1.0] * 10 + [3.0] * 4 + [1.0] * 20
    expected = [factor * share for factor, share in zip(factors, shares(plain), strict=True)]
    assert shares(replace_fields(plain, stage=stages)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"schedule": "lineer"}, "unknown schedule 'lineer': did you mean 'linear'"),
        ({"schedule": "linear:cool=0.5"}, "unknown option of schedule 'linear' 'cool'.*cooldown"),
        ({"schedule": "constant:cooldown=0.5"}, "unknown option of schedule 'constant' 'cooldown'"),
        ({"schedule": "linear:cooldown=1.5"}, "cooldown 1.5"),
        ({"schedule": "linear:cooldown=0"}, "cooldown 0"),
        ({"schedule": "linear:cooldown=half"}, "cooldown=half: expected a number"),
        ({"schedule": "cosine:lowest=1"}, "lowest 1.0 is a learning rate, from 0 to the highest, 0.0001"),
        ({"schedule": "cosine:lowest=-1"}, "lowest -1"),
        ({"schedule": "cosine:period=-1"}, "period -1"),
        ({"schedule": "cosine:restarts=perhaps"}, "expected true or false"),
        ({"optimizer": "moun"}, "unknown optimizer 'moun': did you mean 'muon'"),
        ({"optimizer": "adam:weight_decay=0.1"}, "unknown option of optimizer 'adam' 'weight_decay'"),
        ({"optimizer": "adamw:weight_decay=much"}, "weight_decay=much: expected a number"),
        ({"optimizer": "muon:learning_rate=0"}, "learning_rate 0.0 must be positive"),
        ({"optimizer": "muon:learning_rate=nan"}, "learning_rate nan must be positive"),
    ],
)
def test_what_cannot_be_is_refused_before_the_first_step(fields, complaint):
    """Also where the warm-up is longer than anyone would wait for the schedule to be asked."""
    with pytest.raises(ValueError, match=complaint):
        Optimizer(run_of(warmup_steps=900, **fields), toy())


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
    config = replace_fields(
        preset("fast-2"), encoder_layers=2, encoder_loops=1, dim_model=16, heads=2, positions="grid"
    )
    values = torch.arange(30.0).numpy()
    ordered = torch.tensor([[0, 30]] * 30).numpy()
    return build(config.model, Side(30, values=values), Side(30, ordered=ordered))


def names(model: nn.Module, part: torch.optim.Optimizer) -> set[str]:
    by_id = {id(p): name for name, p in model.named_parameters()}
    return {by_id[id(p)] for group in part.param_groups for p in group["params"]}


def test_muon_moves_the_hidden_matrices_and_adamw_the_rest():
    model = fast_model()
    muon, adamw = Optimizer(PRESETS["fast-2"], model).parts
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
    (part,) = Optimizer(replace_fields(PRESETS["paper-1"], optimizer=kind), model).parts
    assert type(part) is expected
    assert names(model, part) == {name for name, _ in model.named_parameters()}


class Toy(nn.Sequential):
    """A function to fit, of which the first layer counts as hidden."""

    def hidden_matrices(self) -> list[nn.Parameter]:
        return [self.body[0].weight]


def toy() -> Toy:
    torch.manual_seed(0)
    return Toy(OrderedDict(body=nn.Sequential(nn.Linear(4, 4), nn.Tanh()), head=nn.Linear(4, 2)))


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


@pytest.mark.parametrize(("kind", "decay"), [("adam", 0.0), ("adamw:weight_decay=0.1", 0.1)])
def test_adam_is_torchs_with_the_learning_rate_of_the_schedule(kind, decay):
    ours, theirs = toy(), toy()
    optimizer = Optimizer(run_of(20, optimizer=kind, learning_rate=0.01, warmup_steps=5, beta2=0.95), ours)
    options: dict[str, Any] = {"betas": (0.9, 0.95), "foreach": False, "fused": False, "weight_decay": decay}
    reference = (torch.optim.AdamW if decay else torch.optim.Adam)(theirs.parameters(), lr=0.01, **options)
    for step in range(20):
        backward(theirs, step)
        reference.param_groups[0]["lr"] = 0.01 * min(1.0, (step + 1) / 5)
        reference.step()
        reference.zero_grad()
    train(ours, optimizer, range(20))
    torch.testing.assert_close(weights(ours), weights(theirs), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("clip", "size"), [(0.0, 100.0), (0.5, 100.0), (0.5, 1e-3)], ids=["off", "large", "small"])
def test_gradients_are_clipped_to_their_norm_over_all_parameters(clip, size):
    """Seen in Adam's first moment, which after one step is a tenth of the gradient."""
    model = toy()
    optimizer = Optimizer(run_of(clip=clip), model)
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
    optimizer = Optimizer(run_of(optimizer="muon", clip=0.5), model)
    backward(model, 0, 100.0)
    optimizer.step(0)
    moments = optimizer.state_tensors()
    hidden = moments["0.0.momentum"] / 0.05
    rest = [value / 0.1 for name, value in moments.items() if name.endswith(".exp_avg")]
    norm = torch.stack([hidden.norm(), *(gradient.norm() for gradient in rest)]).norm()
    torch.testing.assert_close(norm, torch.tensor(0.5), rtol=1e-3, atol=0)


def test_each_part_has_its_own_highest_learning_rate():
    model = toy()
    optimizer = Optimizer(run_of(optimizer="muon:learning_rate=0.05", learning_rate=1e-3, warmup_steps=10), model)
    for step, share in ((0, 0.1), (4, 0.5), (0, 0.1), (50, 1.0)):
        train(model, optimizer, range(step, step + 1))
        found = [part.param_groups[0]["lr"] for part in optimizer.parts]
        assert found == pytest.approx([0.05 * share, 1e-3 * share])


def test_frozen_weights_stay():
    model = toy()
    model.head.bias.requires_grad_(False)
    before = weights(model)
    train(model, Optimizer(run_of(optimizer="adamw:weight_decay=0.1"), model), range(3))
    stays = {name for name, value in weights(model).items() if torch.equal(value, before[name])}
    assert stays == {"head.bias"}


# The state of every optimiser; tests/contracts/test_optimizers.py has what else they share.

MOMENTS = {"adam": {"exp_avg", "exp_avg_sq", "step"}, "adamw": {"exp_avg", "exp_avg_sq", "step"}, "muon": {"momentum"}}


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_stopping_and_resuming_is_not_stopping(kind):
    config = run_of(12, optimizer=kind, learning_rate=0.01, warmup_steps=4, schedule="cosine")
    model = toy()
    optimizer = Optimizer(config, model)
    train(model, optimizer, range(6))
    saved = {name: value.clone() for name, value in optimizer.state_tensors().items()}
    resumed = copy.deepcopy(model)
    train(model, optimizer, range(6, 12))

    without = copy.deepcopy(resumed)
    again = Optimizer(config, resumed)
    again.load_state_tensors(saved)
    assert again.state_tensors().keys() == saved.keys()
    assert all(torch.equal(value, saved[name]) for name, value in again.state_tensors().items())
    train(resumed, again, range(6, 12))
    assert all(torch.equal(value, weights(model)[name]) for name, value in weights(resumed).items())

    train(without, Optimizer(config, without), range(6, 12))  # the moments do matter
    assert not any(torch.equal(value, weights(model)[name]) for name, value in weights(without).items())


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_state_tensors_have_every_moment_of_every_parameter(kind):
    model = toy()
    optimizer = Optimizer(run_of(optimizer=kind), model)
    assert optimizer.state_tensors() == {}
    train(model, optimizer, range(1))
    tensors = optimizer.state_tensors()
    assert all(isinstance(value, Tensor) for value in tensors.values())
    count = sum(len(group["params"]) for group in optimizer.parts[0].param_groups)
    expected = {f"0.{k}.{moment}" for k in range(count) for moment in MOMENTS[kind]}
    assert {name for name in tensors if name.startswith("0.")} == expected
