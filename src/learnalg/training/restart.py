"""A run to its end, whatever has happened to it before: what jobs, cells and nights of work need.

A run that was killed before its first checkpoint has nothing to resume from. It begins anew; what it left goes.
"""

from __future__ import annotations

from pathlib import Path

from learnalg.config import RunConfig
from learnalg.training.checkpoint import list_checkpoints
from learnalg.training.loop import is_finished, resume, train
from learnalg.training.run import Run
from learnalg.training.watcher import Watcher
from learnalg.zoo.index import MODEL_FILE

LEFT = ("config.json", "provenance.json")  # what a run writes before its first checkpoint


def to_its_end(config: RunConfig, folder: Path, watcher: Watcher | None = None) -> Run:
    """Resumes the run in this folder, or begins it."""
    if list_checkpoints(folder / "checkpoints") or is_finished(folder):
        return resume(folder, watcher=watcher)
    if folder.is_dir():
        _clear(Run(folder, config))
    return train(config, folder, watcher)


def _clear(run: Run) -> None:
    """A folder with anything else in it is refused by `train`."""
    with run.locked():
        if list_checkpoints(run.checkpoints) or (run.folder / MODEL_FILE).exists():
            return
        run.remove_parts()
        if run.checkpoints.is_dir() and not run.checkpoints.is_symlink():
            for path in run.checkpoints.glob("*.ckpt"):  # its checksum was not written
                path.unlink()
            run.checkpoints.rmdir()
        for name in LEFT:
            (run.folder / name).unlink(missing_ok=True)
