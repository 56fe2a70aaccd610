"""Transformers that learn numerical linear algebra from examples.

    import learnalg
    from learnalg.training.loop import train

    config = learnalg.replace_fields(learnalg.preset("fast"), task="eigenvalues", dim="3", examples=200_000)
    train(config, Path("runs/ev3"))
    learnalg.load("runs/ev3").solve(matrix)

Names are loaded when they are first used, so that `import learnalg` and `learnalg --help` do not wait for torch.
"""

import ctypes
import os
import sys
from importlib import import_module
from typing import Any

# How long OpenMP's threads spin at a barrier before they sleep; libgomp reads it when torch is loaded (decision 005).
if "torch" not in sys.modules and "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "10000")

# glibc returns large blocks to the system as they are freed, and every step of training asks for the same ones again,
# page by page. They are kept from here on (decision 005), unless somebody has settings of their own.
if sys.platform == "linux" and not {"GLIBC_TUNABLES", "MALLOC_MMAP_THRESHOLD_"} & os.environ.keys():
    _libc = ctypes.CDLL(None)
    if hasattr(_libc, "mallopt"):  # musl has none
        _M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
        _libc.mallopt(_M_MMAP_THRESHOLD, 2**30)
        _libc.mallopt(_M_TRIM_THRESHOLD, 2**31 - 1)

_HOMES = {
    "Model": "api",
    "load": "api",
    "RunConfig": "config",
    "preset": "presets",
    "replace_fields": "config",
    "TASKS": "tasks",
    "Task": "tasks",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'learnalg' has no attribute {name!r}")
    return getattr(import_module(f"learnalg.{_HOMES[name]}"), name)
