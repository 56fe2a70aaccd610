"""Eigenvalues of 5x5 matrices in distribution: fourteen training sets, four models, within 2 %.

At scale paper 512 dimensions, 8 heads, 60 million examples each (table 14); the models with P1000 and 6/1 layers of
table 12 are tested on its eleven test sets, too. At scale laptop FP15/P1000 and 4/1 layers of 128 dimensions, shown
beside P1000; the models of Wigner and of Laplace matrices are kept ones, the others start from the first.

Time on two cores, at 60 GFLOP/s: smoke seconds, laptop 11 minutes, paper 10 years.

Measured at scale laptop: 4 of 4 cells, the highest number 99.9 where the paper has 99.8.
"""

from __future__ import annotations

from typing import Any

from learnalg.config import RunConfig
from learnalg.reproduction.making import EIGENVALUES_BUDGET, describe, go_on, kept_config, paper, slug
from learnalg.reproduction.experiment import Cell, Recipe, Shown

# ensembles and amplitude, in the paper's order
ROWS: tuple[tuple[tuple[str, ...], tuple[float, ...]], ...] = (
    (("wigner",), (10.0,)),
    (("iid-gaussian",), (10.0,)),
    (("wigner",), (1.0, 100.0)),
    (("wigner",), (1.0, 1000.0)),
    (("positive",), (10.0,)),
    (("uniform",), (10.0,)),
    (("gaussian",), (10.0,)),
    (("laplace",), (10.0,)),
    (("gaussian", "uniform", "laplace"), (10.0,)),
    (("wigner", "gaussian"), (10.0,)),
    (("wigner", "positive"), (10.0,)),
    (("wigner", "laplace"), (10.0,)),
    (("wigner", "positive", "gaussian"), (10.0,)),
    (("wigner", "positive", "laplace"), (10.0,)),
)
MODELS = (("fp15", "4/1"), ("fp15", "6/1"), ("p1000", "4/1"), ("p1000", "6/1"))
OUT_OF_DOMAIN = (0, 2, 10, 9, 11, 7, 8)  # the rows of table 12, in its order
LAPTOP = (0, 2, 7, 8)  # rows
LAPTOP_EXAMPLES = 80_000  # that follow those of the Wigner model
KEPT = {0: "eigenvalues-5-products", 7: "laplace-5"}  # of the first, iid-uniform is another name of wigner

# Table 12's test sets: ensemble and sigma_test / sigma_train; sigma_train is that of A = 10 for all training sets.
TEST_SETS = (
    *(("wigner", factor) for factor in (0.3, 1.0, 1.2)),
    *((law, factor) for law in ("positive", "uniform", "gaussian", "laplace") for factor in (0.6, 1.0)),
)


def test_name(law: str, factor: float) -> str:
    return f"{law}-{factor:g}"


TESTS: dict[str, dict[str, Any]] = {
    test_name(law, factor): {
        "ensemble": (law,),
        "ensemble_weights": (),
        "amplitude": (10.0,),
        "sigma_factor": factor,
    }
    for law, factor in TEST_SETS
}


def model_cell(scale: str, row: int, encoding: str, layers: str) -> tuple[str, RunConfig, str]:
    """Key, config and note."""
    ensemble, amplitude = ROWS[row]
    key = slug(encoding, layers, *ensemble, "a", *(f"{a:g}" for a in amplitude))
    data: dict[str, Any] = {"ensemble": ensemble, "amplitude": amplitude}
    if scale == "paper":
        return key, paper("eigenvalues", "5", layers, encoding, EIGENVALUES_BUDGET, **data), ""
    if row in KEPT:
        config = kept_config(KEPT[row], "eigenvalues")
        return key, config, describe(config, KEPT[row])
    return key, *go_on(KEPT[0], "eigenvalues", LAPTOP_EXAMPLES, **data)


def cells(scale: str) -> list[Cell]:
    found: list[Cell] = []
    for row in range(len(ROWS)) if scale == "paper" else LAPTOP:
        for column, (encoding, layers) in enumerate(MODELS, start=2):
            if scale == "laptop" and (encoding, layers) != ("p1000", "4/1"):
                continue
            key, config, note = model_cell(scale, row, encoding, layers)
            is_tested = row in OUT_OF_DOMAIN and (scale == "laptop" or (encoding, layers) == ("p1000", "6/1"))
            shows = (Shown(row, column, "report/accuracy/l1/0.02"),)
            kept = KEPT.get(row, "") if scale == "laptop" else ""
            init = found[0].key if scale == "laptop" and not kept else ""
            found.append(Cell(key, config, shows, TESTS if is_tested else {}, init=init, kept=kept, note=note))
    return found


RECIPE = Recipe("table-20", "Eigenvalues in distribution, by training set", cells)
