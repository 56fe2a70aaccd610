"""What a model is tested on, and how: flags that `evaluate` and `analyse` share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from learnalg.config import RunConfig
from learnalg.problem import Problem, elsewhere

if TYPE_CHECKING:
    from learnalg.evaluation.evaluate import Predictions


@dataclass(frozen=True)
class Domain:
    """Matrices of the test. The default is as in training."""

    ensemble: tuple[str, ...] = ()  # other ensembles than in training: `learnalg list ensembles`
    amplitude: tuple[float, ...] = ()  # another A than in training, or two for a range
    sigma_factor: float | None = None  # standard deviation of the coefficients, as a multiple of that in training
    dim: str = ""  # other dimensions than in training
    noise: float | None = None  # another input noise than in training

    def of(self, config: RunConfig) -> Problem:
        return elsewhere(config, self.ensemble, self.amplitude, self.sigma_factor, self.dim, self.noise)


@dataclass(frozen=True)
class Decoding:
    """Decoding."""

    beam: int = 1  # width of the beam; 1 is greedy decoding
    constrained: bool = False  # decode within the grammar of matrices only
    device: str = "cpu"  # auto, cpu, cuda, cuda:1, mps

    def predictions(self, model: str, domain: Domain, num: int, seed: int) -> tuple[RunConfig, Predictions]:
        """The config of a model, and what it predicts on a test set."""
        from learnalg.cli.bars import bar
        from learnalg.evaluation.evaluate import predictions_of
        from learnalg.training.devices import pick_device, prepare_cpu
        from learnalg.zoo.load import load_model

        prepare_cpu()
        device = pick_device(self.device)
        config, network = load_model(model)
        problem = domain.of(config)
        network = network.to(device)
        with bar(f"{model} on {num:,} examples", num) as done:
            return config, predictions_of(network, problem, num, seed, "test", self.beam, self.constrained, done)
