"""An optimiser of your own: stochastic gradient descent with momentum.

learnalg train --plugin examples/sgd.py --optimizer sgd:momentum=0.95 --learning-rate 0.1 --task transpose --dim 2
    --out runs/sgd
"""

from typing import Any

import torch

from learnalg.config import OptimConfig
from learnalg.training.optim import OPTIMIZERS


def sgd(model: Any, config: OptimConfig, bf16: bool, momentum: float = 0.9) -> list[torch.optim.Optimizer]:
    """Gradient descent with Nesterov's momentum."""
    return [torch.optim.SGD(model.parameters(), lr=config.learning_rate, momentum=momentum, nesterov=True)]


OPTIMIZERS["sgd"] = sgd
