"""Transformers that learn numerical linear algebra from examples.

    import learnalg
    model = learnalg.load("eigenvalues-3")
    solution = model.solve(matrix)
    solution.value, solution.trusted

    learnalg.linalg.eigvalsh(matrix)        # NumPy's functions, by released models
    learnalg.released()                     # which there are

    from learnalg.training.loop import train
    config = learnalg.replace_fields(learnalg.preset("fast"), task="add", dim="2", examples=20_000)
    train(config, Path("runs/add2"))

Names are loaded when they are first used, so that `import learnalg` and `learnalg --help` do not wait for torch.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "Model": "zoo.model",
    "Solution": "certify.solution",
    "RunConfig": "config",
    "TASKS": "problems",
    "Task": "problems",
    "load": "zoo.model",
    "linalg": "",  # a module
    "released": "zoo.catalog",
    "preset": "config.presets",
    "replace_fields": "config",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'learnalg' has no attribute {name!r}")
    home = _HOMES[name]
    return getattr(import_module(f"learnalg.{home}"), name) if home else import_module(f"learnalg.{name}")


def __dir__() -> list[str]:
    return sorted(_HOMES)
