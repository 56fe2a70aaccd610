"""The page: models to try and to explore, runs as they go, the paper's tables beside ours."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from learnalg.cli.flags import parse
from learnalg.cli.plugins import load_plugins

NEEDED = ("starlette", "uvicorn", "jinja2")


@dataclass(frozen=True)
class Serve:
    """Open a page on this machine: try models, explore where they fail, watch runs, read the paper's tables beside
    ours. It answers this machine only (127.0.0.1) and needs no network. Ctrl-C ends it."""

    runs: Path = Path("runs")  # folder with the runs to show
    port: int = 8000  # 0 takes a free one
    scale: Literal["smoke", "laptop", "paper"] = "laptop"  # results of the Paper part: see `learnalg reproduce --help`
    threads: int = 1  # of torch, for one problem


def run(arguments: list[str]) -> int:
    command = parse(Serve, "serve", load_plugins(arguments))
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise ValueError(f"serve needs {', '.join(missing)}: pip install 'learnalg[serve]'")
    if command.runs.exists() and not command.runs.is_dir():
        raise ValueError(f"--runs {command.runs} is not a folder")
    if command.threads < 1:
        raise ValueError(f"--threads {command.threads}: at least 1")
    from learnalg.reproduction.report.hosting import Hosting
    from learnalg.reproduction.tables import EXPERIMENTS
    from learnalg.serve.app import build_app
    from learnalg.serve.runs import Runs
    from learnalg.serve.server import HOST, listen, serve_until_stopped

    with listen(command.port) as listening:
        port = listening.getsockname()[1]
        paper = Hosting(EXPERIMENTS, command.scale, Path())
        app = build_app(Runs(command.runs), paper, port, lambda: prepare(command.threads))
        print(f"http://{HOST}:{port}   (Ctrl-C ends it)", flush=True)
        serve_until_stopped(app, listening)
    return 0


def prepare(threads: int) -> None:
    """Of each thread that uses models. The page says itself where a matrix is outside of the sizes of the training."""
    import torch

    from learnalg.training.devices import prepare_cpu
    from learnalg.zoo.operands import OutsideWarning

    warnings.simplefilter("ignore", OutsideWarning)
    torch.set_num_threads(threads)
    prepare_cpu()
