"""The table of docs/faults.md: what `make faults` has tried, from results/faults/."""

from __future__ import annotations

from pathlib import Path

from learnalg.files import read_json

TITLES = {
    "kills": "Processes that are killed",
    "disks": "Disks",
    "damage": "Damaged files",
    "clocks_and_workers": "Clocks and data workers",
    "lost_processes": "One of two processes is lost",
    "numbers": "Numbers that are not finite",
    "writers": "Two processes, one folder",
}


def faults_table(root: Path) -> str:
    parts = []
    for name, title in TITLES.items():
        path = root / "results" / "faults" / f"{name}.json"
        if path.is_file():
            found = read_json(path)
            rows = [f"| {row['fault']} | {row['tries']} | {row['result']} |" for row in found["rows"]]
            lines = [f"## {title}", "", "| fault | tried | what happened |", "| --- | --- | --- |", *rows]
            made = f"`results/faults/{name}.json`, {found['time'][:10]}, commit {found['commit'][:9]}."
            parts.append("\n".join([*lines, "", made]))
    return "\n\n".join(parts)
