"""Which ingredient of the preset `fast` does what: 4x4 eigenvalues and 5x5 sums, each ingredient taken away from
`fast` in turn, and each added alone to the paper's ingredients, at a fixed budget, three seeds. Ordered outputs came
late: they are taken away first, and the others from what is left. Relations came next, and are added, then 8 heads in
place of 4, then products: `fast` is now what is here called fast with relations, 8 heads, products. To that what reads
numbers out more precisely (decision 011) is added, one at a time and all. Operand positions are not part of it, and are
added too; only sums have two operands.

All networks have the same size, so that only the ingredients differ: 2/1 layers (sums 1/1), 64 dimensions. The budgets
are short, so that 177 runs take an hour on two cores: what is shown is who learns first, by accuracy within 5 % and by
the cross-entropy a token on 2,000 test matrices, which differs long before accuracies do. Soft targets raise the
cross-entropy: compare them by accuracy.

Measured at scale laptop: 177 of 177 cells, the highest number 100.0.
"""

from __future__ import annotations

from typing import Any

from learnalg.config import RunConfig, replace_fields
from learnalg.config.presets import preset
from learnalg.reproduction.experiment import Cell, Recipe, Shown

SEEDS = (1, 2, 3)

# ingredient -> its fields as `fast` has them and as the paper has them
INGREDIENTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "number features": ({"input_embedding": "features"}, {"input_embedding": "lookup"}),
    "grid positions": ({"positions": "grid"}, {"positions": "learned"}),
    "pre-norm": ({"norm": "pre"}, {"norm": "post"}),
    "QK-norm": ({"qk_norm": True}, {"qk_norm": False}),
    "zero-init, no biases": ({"zero_init": True, "bias": False}, {"zero_init": False, "bias": True}),
    "bias by place, prior": (
        {"output_bias": "place", "prior_bias": True},
        {"output_bias": "word", "prior_bias": False},
    ),
    "Muon": (
        {"optimizer": "muon", "learning_rate": 3e-3, "beta2": 0.99, "clip": 1.0},
        {"optimizer": "adam", "learning_rate": 5e-4, "beta2": 0.999, "clip": 5.0},
    ),
    "linear cool-down": ({"schedule": "linear"}, {"schedule": "constant"}),
    "soft targets": ({"soft_width": 3.0}, {"soft_width": 0.0}),
    "ordered outputs": ({"output_embedding": "ordered"}, {"output_embedding": "lookup"}),
}
LATE = "ordered outputs"
OPERANDS = "operand positions"
PRODUCTS = "relations, 8 heads, products"
WITH_PRODUCTS: dict[str, Any] = {"relations": True, "heads": 8, "products": 32}
MORE: dict[str, dict[str, Any]] = {
    "relations": {"relations": True},
    "relations, 8 heads": {"relations": True, "heads": 8},
    PRODUCTS: WITH_PRODUCTS,
    f"{PRODUCTS}, relations from the start": WITH_PRODUCTS | {"relation_start": 12.0},
    f"{PRODUCTS}, decades": WITH_PRODUCTS | {"output_embedding": "decades"},
    f"{PRODUCTS}, two decoder layers": WITH_PRODUCTS | {"decoder_layers": 2},
    f"{PRODUCTS}, all three": WITH_PRODUCTS
    | {"relation_start": 12.0, "output_embedding": "decades", "decoder_layers": 2},
    OPERANDS: {"positions": "operands"},
}
SUMS = "add 5x5"
PROBLEMS: dict[str, dict[str, Any]] = {
    "eigenvalues 4x4": {"task": "eigenvalues", "dim": "4", "encoder_layers": 2, "examples": 24_000},
    SUMS: {"task": "add", "dim": "5", "encoder_layers": 1, "output_encoding": "b1999", "examples": 9_600},
}


def base(problem: str, seed: int) -> dict[str, Any]:
    fields = {"dim_model": 64, "batch_size": 32, "final_num": 2_000, "seed": seed, "heads": 4, "relations": False}
    fields |= {"products": 0} | PROBLEMS[problem]
    return fields | {"eval_every": fields["examples"]}


def config(problem: str, fast: set[str], seed: int, **changes: Any) -> RunConfig:
    """The ingredients in `fast` as the preset has them, all others as the paper has them."""
    fields = base(problem, seed)
    for name, (ours, theirs) in INGREDIENTS.items():
        fields |= ours if name in fast else theirs
    return replace_fields(preset("fast"), **fields | changes)


def cells(scale: str) -> list[Cell]:
    everything = set(INGREDIENTS)
    without = everything - {LATE}
    variants = {"fast": everything, f"fast without {LATE}": without}
    variants |= {f"fast without {LATE} and {name}": without - {name} for name in INGREDIENTS if name != LATE}
    variants |= {"paper": set()} | {f"paper with {name}": {name} for name in INGREDIENTS}
    found = []
    for seed in SEEDS:
        for problem in PROBLEMS:
            for variant, fast in variants.items():
                found.append(cell(problem, variant, seed, config(problem, fast, seed)))
        for problem in PROBLEMS:
            for name, changes in MORE.items():
                if problem == SUMS or name != OPERANDS:
                    found.append(cell(problem, f"fast with {name}", seed, config(problem, everything, seed, **changes)))
    return found


def cell(problem: str, variant: str, seed: int, config: RunConfig) -> Cell:
    key = "-".join(f"{problem} {variant} {seed}".lower().replace(",", "").split())
    return Cell(key, config, shows(problem, variant))


def shows(problem: str, variant: str) -> tuple[Shown, ...]:
    return (
        Shown(variant, f"{problem}, within 5 %", "report/accuracy/l1/0.05"),
        Shown(variant, f"{problem}, loss", "report/loss", factor=1.0, digits=2),
    )


RECIPE = Recipe("ablation", "What each ingredient does", cells, has_paper=False)
