"""What a run asks of the CPU: products that are exact, whatever kernel makes them."""

from __future__ import annotations

import itertools

import pytest
import torch

from learnalg.models.cpu import is_exact
from learnalg.training import devices
from learnalg.training.devices import as_torch_has_it, bf16_pays, dropout_seed, prepare_cpu

SETTINGS = torch.backends.mkldnn.matmul


@pytest.fixture(autouse=True)
def settings_as_they_were():
    before, SETTINGS.fp32_precision = SETTINGS.fp32_precision, "none"
    yield
    SETTINGS.fp32_precision = before


def cpu(monkeypatch, *, bf16: bool, amx: bool) -> None:
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: bf16)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: amx)


def test_products_stay_exact():
    prepare_cpu()
    torch.manual_seed(0)
    for shape in ((40, 24, 17), (300, 128, 512)):
        a, b = torch.randn(shape[:2]), torch.randn(shape[1:])
        exact = a.double() @ b.double()
        assert ((a @ b).double() - exact).norm() < 1e-6 * exact.norm()


@pytest.mark.parametrize(
    ("bf16", "amx", "chosen"), [(True, False, "bf16"), (True, True, "none"), (False, False, "none")]
)
def test_onednn_is_asked_where_it_does_not_round(monkeypatch, bf16, amx, chosen):
    cpu(monkeypatch, bf16=bf16, amx=amx)
    monkeypatch.setattr("learnalg.models.cpu.is_exact", lambda: True)
    prepare_cpu()
    assert SETTINGS.fp32_precision == chosen


def test_a_kernel_that_rounds_is_taken_back(monkeypatch):
    cpu(monkeypatch, bf16=True, amx=False)
    monkeypatch.setattr("learnalg.models.cpu.is_exact", lambda: False)
    prepare_cpu()
    assert SETTINGS.fp32_precision == "none"


def test_rounding_to_bf16_is_noticed(monkeypatch):
    assert is_exact()
    product = torch.Tensor.__matmul__

    def rounds(a, b):
        return product(a.bfloat16(), b.bfloat16()).float() if a.dtype == torch.float32 else product(a, b)

    monkeypatch.setattr(torch.Tensor, "__matmul__", rounds)
    assert not is_exact()


def test_torchs_own_choice_is_lent():
    SETTINGS.fp32_precision = "bf16"
    with pytest.raises(KeyError), as_torch_has_it():
        assert SETTINGS.fp32_precision == "none"
        raise KeyError
    assert SETTINGS.fp32_precision == "bf16"


@pytest.mark.parametrize(
    ("seconds", "dim", "pays"),
    [
        (2.0, 512, True),
        (1.3, 128, True),
        (1.2, 128, False),
        (1.0, 512, False),
        (0.01, 512, False),  # no support: found out at once
    ],
)
def test_bf16_pays_by_what_is_measured(monkeypatch, seconds, dim, pays):
    """A clock by which a product takes a second in bf16, and so many in fp32."""
    readings = itertools.chain.from_iterable([(0.0, taken) for taken in [seconds] * 9 + [1.0] * 10])
    monkeypatch.setattr(devices.time, "perf_counter", lambda: next(readings))
    assert bf16_pays(torch.device("cpu"), dim) is pays
    assert (len(list(readings)) > 0) == (seconds == 0.01)
    assert not bf16_pays(torch.device("meta"), 512)


def test_dropout_has_a_seed_for_each_run_step_and_part():
    seeds = {dropout_seed(seed, step, row) for seed in (1, 2) for step in range(5) for row in (0, 16)}
    assert len(seeds) == 20
