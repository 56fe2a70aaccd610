"""What of a run is in bf16."""

import pytest
import torch

from learnalg.config import replace_fields
from learnalg.data import TrainingData
from learnalg.training.loop import settle
from learnalg.training.step import compute_gradient, new_state, set_first_weights


def gradients(config, step):
    state = new_state(config, torch.device("cpu"))
    set_first_weights(state)
    state.step = step
    compute_gradient(state, TrainingData(config).batch(0))
    return torch.cat([p.grad.flatten() for p in state.model.parameters() if p.grad is not None])


def test_the_last_fifth_of_a_mixed_run_is_in_fp32(tiny_config):
    mixed = tiny_config(examples=640, batch_size=64, precision="mixed", threads=1)
    assert [mixed.train.is_bf16(step) for step in range(10)] == [True] * 8 + [False] * 2
    single, half = (gradients(replace_fields(mixed, precision=p), 9) for p in ("fp32", "bf16"))
    assert not torch.equal(single, half)
    assert torch.equal(gradients(mixed, 7), half)
    assert torch.equal(gradients(mixed, 8), single)


@pytest.mark.parametrize(
    ("pays", "dim", "precision"),
    [(True, 512, "bf16"), (True, 128, "mixed"), (False, 512, "fp32"), (False, 128, "fp32")],
)
def test_auto_takes_what_pays(tiny_config, monkeypatch, pays, dim, precision):
    monkeypatch.setattr("learnalg.training.loop.bf16_pays", lambda device, widest: pays)
    config = tiny_config(precision="auto", dim_model=dim, heads=4, threads=1)
    assert settle(config, torch.device("cpu")).train.precision == precision
