"""Another budget for a run that has begun, where it changes no step that was taken.

While the learning rate is constant, a run takes the same steps for every larger budget, and for a smaller one until its
learning rate would fall. So the budget can be chosen late, when the speed of the machine and of learning is known.
"""

from __future__ import annotations

from learnalg.config import RunConfig, replace_fields
from learnalg.training.optim import learning_rate_share


def with_budget(config: RunConfig, examples: int, step: int) -> RunConfig:
    """The config of a run of `examples` in all, whose steps before `step` were taken under `config`."""
    changed = replace_fields(config, examples=examples)
    old, new, done = config.train.num_steps, changed.train.num_steps, step * config.train.batch_size
    if new <= step and new != old:
        raise ValueError(f"examples {examples:,}: the run was trained on {done:,} already")
    same_learning_rates = all(learning_rate_share(config, k) == learning_rate_share(changed, k) for k in range(step))
    # The part of the run that has examples mixed in must end later, or at the same step.
    same_mix = not config.mix.mix_share or step <= config.mix.mix_until * min(old, new)
    if new != old and not (same_learning_rates and same_mix):
        raise ValueError(
            f"examples {examples:,}: with this budget the first {done:,} examples would have had other learning rates "
            f"or another mix than with {config.train.examples:,}: "
            f"choose another budget or an earlier --checkpoint, or fine-tune with --init"
        )
    return changed
