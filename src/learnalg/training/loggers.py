"""Where metrics go besides metrics.jsonl, which has all of them: TensorBoard, trackio or wandb, by `--logger NAME`.

    >>> logger = LOGGERS["tensorboard"](Path("runs/ev3"), {}, 0)
    >>> logger.log({"loss": 1.2}, 640)

trackio and wandb have one interface. Where they write, and whether they send it anywhere, is their own setting:
TRACKIO_DIR; WANDB_DIR, WANDB_MODE=offline.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from learnalg.naming import unknown

PROJECT = "learnalg"  # in trackio and wandb


class Logger(Protocol):
    def log(self, values: dict[str, float], examples: int) -> None: ...

    def close(self) -> None: ...


class TensorBoard:
    """Events in the run's folder. What a resumed run writes again replaces what it wrote before."""

    def __init__(self, folder: Path, config: dict[str, Any], examples: int) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self.writer = SummaryWriter(str(folder / "tensorboard"), purge_step=examples + 1)

    def log(self, values: dict[str, float], examples: int) -> None:
        for name, value in values.items():
            self.writer.add_scalar(name, value, examples)

    def close(self) -> None:
        self.writer.close()


class Tracker:
    """trackio or wandb: a run of the folder's name, which a resumed one continues."""

    def __init__(self, module: str, folder: Path, config: dict[str, Any], **options: Any) -> None:
        self.module = importlib.import_module(module)
        self.module.init(project=PROJECT, name=folder.resolve().name, config=config, resume="allow", **options)

    def log(self, values: dict[str, float], examples: int) -> None:
        self.module.log(values | {"examples": float(examples)}, step=examples)

    def close(self) -> None:
        self.module.finish()


def trackio(folder: Path, config: dict[str, Any], examples: int) -> Logger:
    return Tracker("trackio", folder, config, embed=False, auto_log_gpu=False, auto_log_cpu=False)


def wandb(folder: Path, config: dict[str, Any], examples: int) -> Logger:
    return Tracker("wandb", folder, config, id=folder.resolve().name)


LOGGERS: dict[str, Callable[[Path, dict[str, Any], int], Logger]] = {
    "tensorboard": TensorBoard,
    "trackio": trackio,
    "wandb": wandb,
}


def check_logger(name: str) -> None:
    """Refuses a logger that is unknown or not installed; '' is none."""
    if name and name not in LOGGERS:
        raise unknown("logger", name, LOGGERS)
    if name and importlib.util.find_spec(name) is None:
        raise ValueError(f"{name} is not installed: pip install 'learnalg[{name}]'")


def scalars(values: dict[str, Any]) -> dict[str, float]:
    """The numbers of a line of metrics: 'accuracy/0.05' is the share at 5 % tolerance, in L1."""
    shares = values.get("accuracy", {}).get("l1", {})
    numbers = {name: value for name, value in values.items() if isinstance(value, float)}
    return numbers | {f"accuracy/{tolerance}": share for tolerance, share in shares.items()}
