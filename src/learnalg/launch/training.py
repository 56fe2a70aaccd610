"""A training as a job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from learnalg.config import from_dict


def train_or_resume(config: dict[str, Any], out: str) -> None:
    """A new run in the folder `out`, or the one that is there to its end."""
    from learnalg.training.restart import to_its_end

    to_its_end(from_dict(config), Path(out))
