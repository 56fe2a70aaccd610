"""What every optimiser and every schedule must do: each entry of OPTIMIZERS and of SCHEDULES, with its defaults."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import nn

from learnalg.config import RunConfig, replace_fields
from learnalg.data import TrainingData
from learnalg.models import build, decoder_input, sides
from learnalg.problem import Problem
from learnalg.tokens.tokenizer import PAD
from learnalg.training.optim import OPTIMIZERS, SCHEDULES, Optimizer, learning_rate_share

STEPS = 12
every_optimizer = pytest.mark.parametrize("name", OPTIMIZERS)
every_schedule = pytest.mark.parametrize("name", SCHEDULES)


def config_of(tiny_config: Any, **changes: Any) -> RunConfig:
    return tiny_config(**{"warmup_steps": 3, "soft_width": 0.0, "examples": STEPS * 64} | changes)


def new(config: RunConfig) -> tuple[nn.Module, Optimizer]:
    torch.manual_seed(0)
    model = build(config.model, *sides(Problem(config.data)))
    return model, Optimizer(config, model)


def train(config: RunConfig, model: nn.Module, optimizer: Optimizer, steps: range) -> list[float]:
    """The loss of each step."""
    data, losses = TrainingData(config), []
    for step in steps:
        batch = data.batch(step)
        target = torch.from_numpy(batch.targets)
        logits = model(torch.from_numpy(batch.sources), decoder_input(target))
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=PAD)
        loss.backward()
        optimizer.step(step)
        losses.append(loss.item())
    return losses


@every_optimizer
def test_each_parameter_belongs_to_one_group(name, tiny_config):
    model, optimizer = new(config_of(tiny_config, optimizer=name))
    moved = [p for part in optimizer.parts for group in part.param_groups for p in group["params"]]
    assert len(moved) == len({id(p) for p in moved})
    assert {id(p) for p in moved} == {id(p) for p in model.parameters()}


@every_optimizer
def test_the_loss_falls_and_gradients_are_dropped(name, tiny_config):
    config = config_of(tiny_config, optimizer=name)
    model, optimizer = new(config)
    before = copy.deepcopy(model.state_dict())
    losses = train(config, model, optimizer, range(STEPS))
    assert losses[-1] < 0.8 * losses[0]
    assert all(p.grad is None for p in model.parameters())
    stays = [key for key, value in model.state_dict().items() if torch.equal(value, before[key])]
    assert not [key for key in stays if not key.endswith("key_norm.bias")]


@every_optimizer
def test_resuming_is_not_having_stopped_bit_for_bit(name, tiny_config):
    config = config_of(tiny_config, optimizer=name)
    model, optimizer = new(config)
    train(config, model, optimizer, range(5))
    resumed, other = new(config)
    resumed.load_state_dict(copy.deepcopy(model.state_dict()))
    other.load_state_tensors({key: value.clone() for key, value in optimizer.state_tensors().items()})
    assert train(config, model, optimizer, range(5, STEPS)) == train(config, resumed, other, range(5, STEPS))
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), resumed.parameters(), strict=True))


@every_optimizer
def test_all_learning_rates_follow_the_schedule(name, tiny_config):
    config = config_of(tiny_config, optimizer=name)
    model, optimizer = new(config)
    highest = [group["lr"] for part in optimizer.parts for group in part.param_groups]
    for step in (0, 3, STEPS - 1):
        train(config, model, optimizer, range(step, step + 1))
        share = learning_rate_share(config, step)
        found = [group["lr"] for part in optimizer.parts for group in part.param_groups]
        assert found == pytest.approx([share * lr for lr in highest])


@every_schedule
def test_a_schedule_rises_in_the_warm_up_and_never_leaves_its_range(name, tiny_config):
    config = config_of(tiny_config, schedule=name, warmup_steps=100, examples=1_000 * 64)
    shares = [learning_rate_share(config, step) for step in range(1_000)]
    assert shares[:100] == pytest.approx([(step + 1) / 100 for step in range(100)])
    assert all(0 <= share <= 1 for share in shares)
    assert shares == [learning_rate_share(config, step) for step in range(1_000)]  # a function of the step alone
    without = replace_fields(config, warmup_steps=0)
    assert learning_rate_share(without, 0) == pytest.approx(1)


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"optimizer": "adma"}, "unknown optimizer 'adma': did you mean 'adam'"),
        ({"schedule": "liner"}, "unknown schedule 'liner': did you mean 'linear'"),
        *(({"optimizer": f"{name}:nothing=1"}, f"unknown option of optimizer '{name}'") for name in OPTIMIZERS),
        *(({"schedule": f"{name}:nothing=1"}, f"unknown option of schedule '{name}'") for name in SCHEDULES),
    ],
)
def test_unknown_names_and_options_are_refused_before_the_first_step(fields, complaint, tiny_config):
    with pytest.raises(ValueError, match=complaint):
        new(config_of(tiny_config, **fields))
