"""The README's table of results, made from results/*.json."""

from __future__ import annotations

import json
from pathlib import Path

from learnalg.training.run import all_examples

BEGIN, END = "<!-- results:begin -->", "<!-- results:end -->"


def results_table(folder: Path) -> str:
    lines = [
        "| model | examples | minutes | parameters | accuracy at 5 / 2 / 1 / 0.5 % |",
        "| --- | --- | --- | --- | --- |",
    ]
    for path in sorted(folder.glob("*.json")):
        result = json.loads(path.read_text())
        shares = result["report"]["accuracy"]["l1"]
        accuracy = " / ".join(f"{100 * shares[t]:.1f}" for t in ("0.05", "0.02", "0.01", "0.005"))
        lines.append(
            f"| [{path.stem}](results/{path.name}) | {all_examples(result):,} | {result['seconds'] / 60:.1f} "
            f"| {result['parameters']:,} | {accuracy} |"
        )
    return "\n".join(lines)


def with_table(text: str, table: str, begin: str = BEGIN, end: str = END) -> str:
    """The text with what stands between the two marks replaced."""
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n{table}\n{end}{after}"
