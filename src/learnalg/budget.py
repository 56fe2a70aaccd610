"""Another budget for a run on its way, where that changes nothing of what was done.

A run that holds its rates for a first part of its budget and lets them fall over the rest is, up to there, the same run
for every larger budget, and for a smaller one up to where its own rates would fall. So the budget can be settled late:
when it is seen how fast the machine is, or how fast the model learns.
"""

from __future__ import annotations

from learnalg.config import CurriculumConfig, RunConfig, replace_fields
from learnalg.optim import rate, soft_width


def with_budget(config: RunConfig, examples: int, step: int) -> RunConfig:
    """The config of a run of `examples` in all, of which the steps before `step` were already taken under `config`."""
    changed = replace_fields(config, examples=examples)
    old, new, done = config.train.num_steps, changed.train.num_steps, step * config.train.batch_size
    if new <= step and new != old:
        raise ValueError(f"examples {examples:,}: the run has had {done:,} already")
    optim = config.optim
    same_rates = all(rate(optim, k, old) == rate(optim, k, new) for k in range(step))
    same_widths = all(soft_width(optim, k, old) == soft_width(optim, k, new) for k in range(step))
    if new != old and not (same_rates and same_widths and _same_lessons(config.curriculum, step, min(old, new))):
        raise ValueError(
            f"examples {examples:,}: with this budget the {done:,} examples so far would have been learned otherwise "
            f"(learning rates, soft targets or the curriculum depend on the budget, so far {config.train.examples:,}): "
            f"choose another budget or an earlier --checkpoint, or start anew with --init"
        )
    return changed


def _same_lessons(curriculum: CurriculumConfig, step: int, smaller: int) -> bool:
    """Whether the first steps see the same under both budgets; `smaller` is the smaller number of steps."""
    if not step or not curriculum.easy_share or not curriculum.easy_until:
        return True
    return not curriculum.easy_grows and step <= curriculum.easy_until * smaller
