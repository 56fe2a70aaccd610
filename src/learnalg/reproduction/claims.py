"""What the paper measured, to set beside what we measure (sections 4 and 5).

    >>> numbers_for("eigenvectors", DataConfig(task="eigenvectors"), DataConfig(task="eigenvectors"))["weak_accuracy"]
    {'0.05': 0.957, '0.02': 0.929, '0.01': 0.884, '0.005': 0.73}

Shares, by tolerance where there is one. Each set of numbers says what it was measured on: a model of ours may have
another size, and stand beside it all the same.
"""

from __future__ import annotations

from typing import Any

from learnalg.config import DataConfig
from learnalg.reproduction.experiment import paper_numbers, paper_table

# Keys of paper.toml end in the tolerance, in percent.
_TOLERANCES = {"5": "0.05", "2": "0.02", "1": "0.01", "0_5": "0.005", "25": "0.25"}


def _by_tolerance(*percent: float) -> dict[str, float]:
    """At 5, 2, 1, 0.5 %, the paper's order."""
    return {t: round(p / 100, 4) for t, p in zip(("0.05", "0.02", "0.01", "0.005"), percent, strict=True)}


def _failures(name: str, section: str, kinds: dict[str, str]) -> dict[str, Any]:
    """What the text says of a model's failures; `kinds`: our name -> how the keys of paper.toml begin."""
    said = paper_numbers()[name]
    found: dict[str, Any] = {
        "measured_on": f"5x5, {said['model']} ({section})",
        "well_formed": said["well_formed"] / said["test_examples"],
        "right_98_below": said["correct_condition_below"],
        "failures_98_above": said["failed_condition_above"],
    }
    for kind, prefix in kinds.items():
        by_key = {t: said.get(f"{prefix}_{key}") for key, t in _TOLERANCES.items()}
        found[kind] = {t: round(percent / 100, 4) for t, percent in by_key.items() if percent is not None}
    return found


# The failures of two models, each on a new test set of 10,000 (sections 4.5 and 4.6).
FAILURES: dict[str, dict[str, Any]] = {
    "eigenvectors": _failures(
        "eigenvectors-analysis",
        "section 4.5",
        {
            "accuracy": "accuracy_at",
            "weak_accuracy": "reconstruction_at",
            "eigenvalue_accuracy": "eigenvalues_at",
            "norms_within": "unit_norms_within",
        },
    ),
    "inverse": _failures(
        "inversion-analysis", "section 4.6", {"accuracy": "accuracy_at", "distance_accuracy": "inverse_at"}
    ),
}
FAILURES["eigenvectors"]["dots_below"] = {
    limit: round(paper_numbers()["eigenvectors-analysis"][f"dot_products_within_{limit.replace('.', '_')}"] / 100, 4)
    for limit in ("0.01", "0.05")
}
# The condition numbers that it names: of H, and of the matrix to invert.
THRESHOLDS = {
    task: tuple(dict.fromkeys((found["right_98_below"], found["failures_98_above"])))
    for task, found in (*FAILURES.items(), ("symmetric_inverse", FAILURES["inverse"]))
}

# In-distribution accuracy of its best model of that size (sections 4.2 to 4.4): task and dim -> table and column.
ACCURACY = {
    ("add", "5"): ("table-3", 1),
    ("add", "10"): ("table-3", 4),
    ("add", "15"): ("table-3", 5),
    ("add", "20"): ("table-3", 6),
    ("matvec", "5"): ("table-4", 2),
    ("matvec", "10"): ("table-4", 3),
    ("matmul", "5"): ("table-5", 2),
    ("eigenvalues", "5"): ("table-6", 1),
    ("eigenvalues", "8"): ("table-6", 5),
    ("eigenvalues", "10"): ("table-6", 7),
    ("eigenvalues", "5-10"): ("table-6", 8),
    ("eigenvalues", "5-15"): ("table-6", 9),
    ("eigenvalues", "5-20"): ("table-6", 10),
}

# Eigenvalues out of distribution (section 5): matrices trained on, with their range of A -> the test's matrices and
# sigma_test / sigma_train -> percent within 2 %. The training sets are the rows of table 12, in its order.
_TRAINED: tuple[tuple[tuple[str, ...], tuple[float, ...]], ...] = (
    (("wigner",), (10.0,)),
    (("wigner",), (1.0, 100.0)),
    (("positive", "wigner"), (10.0,)),
    (("gaussian", "wigner"), (10.0,)),
    (("laplace", "wigner"), (10.0,)),
    (("laplace",), (10.0,)),
    (("gaussian", "laplace", "uniform"), (10.0,)),
)


def _out_of_distribution() -> dict[tuple[tuple[str, ...], tuple[float, ...]], dict[tuple[str, float], float]]:
    columns, rows = paper_table("table-12")
    tests = [(law.lower(), float(factor)) for law, _, factor in (name.partition(" / ") for name in columns[1:])]
    return {trained: dict(zip(tests, row[1:], strict=True)) for trained, row in zip(_TRAINED, rows, strict=True)}


OUT_OF_DISTRIBUTION = _out_of_distribution()
OUT_OF_DISTRIBUTION[("wigner",), (10.0,)] |= {  # the text has some more of the first row
    ("wigner", float(factor)): share for factor, share in paper_table("wigner-scales")[1]
}


def numbers_for(task: str, trained: DataConfig, tested: DataConfig) -> dict[str, Any]:
    """The paper's numbers for a task, by what a model was trained and is tested on; {} where it gives none."""
    if task in FAILURES:
        return FAILURES[task]
    is_plain = trained.noise == tested.noise == 0
    is_same = trained.dim == tested.dim and trained.amplitude == tested.amplitude and not tested.symmetric
    if not is_plain or not is_same:
        return {}
    learned, law = _names(trained), _names(tested)
    factor = round(tested.sigma_factor / trained.sigma_factor, 6)
    key = (task, tested.dim)
    if key in ACCURACY and learned == law == ("wigner",) and tested.amplitude == (10.0,) and factor == 1:
        table, k = ACCURACY[key]
        column = [row[k] for row in paper_table(table)[1]]
        return {"measured_on": f"dim {tested.dim}, its best model", "accuracy": _by_tolerance(*column)}
    row = OUT_OF_DISTRIBUTION.get((learned, trained.amplitude), {})
    if task == "eigenvalues" and len(law) == 1 and (law[0], factor) in row:
        share = row[law[0], factor] / 100
        return {"measured_on": "eigenvalues by distribution, P1000 (section 5)", "accuracy": {"0.02": share}}
    return {}


def _names(data: DataConfig) -> tuple[str, ...]:
    """The paper calls independent uniform coefficients Wigner."""
    return tuple(sorted({"wigner" if name == "iid-uniform" else name for name in data.ensemble}))
