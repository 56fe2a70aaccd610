"""Another budget for a run on its way, where that changes nothing of what was done.

A run whose learning rates are constant for a first part of its budget is, up to there, the same run for every larger
budget, and for a smaller one up to where its own learning rates would fall. So the budget can be settled late: when it
is seen how fast the machine is, or how fast the model learns.
"""

from __future__ import annotations

from learnalg.config import RunConfig, replace_fields
from learnalg.training.optim import learning_rate_share


def with_budget(config: RunConfig, examples: int, step: int) -> RunConfig:
    """The config of a run of `examples` in all, of which the steps before `step` were already taken under `config`."""
    changed = replace_fields(config, examples=examples)
    old, new, done = config.train.num_steps, changed.train.num_steps, step * config.train.batch_size
    if new <= step and new != old:
        raise ValueError(f"examples {examples:,}: the run has had {done:,} already")
    same_rates = all(learning_rate_share(config, k) == learning_rate_share(changed, k) for k in range(step))
    # The part of the run that has further examples mixed in must end later, or at the same step.
    same_mix = not config.mix.mix_share or step <= config.mix.mix_until * min(old, new)
    if new != old and not (same_rates and same_mix):
        raise ValueError(
            f"examples {examples:,}: with this budget the {done:,} examples so far would have been learned otherwise "
            f"(learning rates or what is mixed in depend on the budget, so far {config.train.examples:,}): "
            f"choose another budget or an earlier --checkpoint, or start anew with --init"
        )
    return changed
