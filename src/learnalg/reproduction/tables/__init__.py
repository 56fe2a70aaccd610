"""The experiments, in the paper's order, then our own. Each file has a group of tables, and lists them at its end: a
new experiment is an entry there.
"""

from learnalg.reproduction.experiment import Experiment
from learnalg.reproduction.tables import (
    ablation,
    architectures,
    decompositions,
    eigenvalues,
    figures,
    joint,
    noise,
    operations,
    out_of_distribution,
    sizes,
    texts,
    untrained,
)

FILES = (
    *(operations, eigenvalues, decompositions, noise, out_of_distribution),
    *(sizes, architectures, joint, figures, untrained, texts, ablation),
)


def _place(name: str) -> tuple[int, int]:
    """Tables and then figures by number, all else as the files have it."""
    kind, _, number = name.partition("-")
    return ("table", "figure", kind).index(kind), int(number) if number.isdigit() else 0


_UNORDERED: dict[str, Experiment] = {experiment.name: experiment for file in FILES for experiment in file.EXPERIMENTS}
EXPERIMENTS = {name: _UNORDERED[name] for name in sorted(_UNORDERED, key=_place)}
