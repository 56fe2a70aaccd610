"""Which library multiplies on this CPU.

torch computes products in fp32 with MKL, and on CPUs other than Intel's MKL uses 256-bit instructions where there are
512-bit ones. The setting that allows oneDNN to round them to bf16 gives them to oneDNN, which rounds only with AMX, and
is exact and twice as fast without (decision 005). A call of oneDNN takes 10 microseconds more: few rows stay with MKL.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch

MANY_ROWS = 32


def suits_onednn() -> bool:
    """The CPU is asked and not timed: a resumed run must find the same."""
    if not torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported():
        return False
    with _by_onednn(True):
        return is_exact()


def is_exact() -> bool:
    """Whether products in fp32 are as good as fp32 is."""
    a = torch.linspace(-1, 1, 256 * 256).view(256, 256).sin()
    return torch.allclose(a @ a, (a.double() @ a.double()).float(), rtol=0, atol=1e-3)  # bf16 is off by 0.08


asked_once = cache(suits_onednn)


@contextmanager
def fast_products(rows: int) -> Iterator[None]:
    """For products with matrices of so many rows."""
    with _by_onednn(rows >= MANY_ROWS and asked_once()):
        yield


@contextmanager
def _by_onednn(chosen: bool) -> Iterator[None]:
    settings: Any = torch.backends.mkldnn.matmul  # type: ignore[attr-defined]
    before, settings.fp32_precision = settings.fp32_precision, "bf16" if chosen else "none"
    try:
        yield
    finally:
        settings.fp32_precision = before
