"""A schedule of your own: the learning rate is halved every so many steps.

learnalg train --plugin examples/halving.py --schedule halving:every=500 --task add --dim 2 --out runs/halving
"""

from learnalg.training.optim import SCHEDULES, Progress


def halving(at: Progress, every: int = 1_000) -> float:
    """Halved every so many steps."""
    return 0.5 ** ((at.step - at.warmup) // every)


SCHEDULES["halving"] = halving
