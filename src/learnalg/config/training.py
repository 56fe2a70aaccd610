"""How it is trained: the optimiser, the loop, and what it sees besides the problem itself."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

from learnalg.checks import check_types, need
from learnalg.config.problem import DataConfig


@dataclass(frozen=True)
class OptimConfig:
    """How the weights move."""

    optimizer: Literal["adam", "adamw", "muon"] = "adam"  # muon: for hidden matrices, AdamW for the rest
    learning_rate: float = 1e-4  # highest rate of Adam
    muon_learning_rate: float = 0.02  # highest rate of Muon
    schedule: Literal["constant", "inverse-sqrt", "cosine", "linear"] = "constant"  # after the warm-up
    warmup_steps: int = 10_000  # steps over which the rate rises from zero
    min_learning_rate: float = 0.0  # where cosine ends
    schedule_steps: int = 0  # period of cosine; 0: the whole run
    cooldown: float = 0.5  # share of the run over which `linear` falls to zero
    weight_decay: float = 0.0  # of AdamW and Muon
    beta1: float = 0.9  # Adam's first moment
    beta2: float = 0.999  # Adam's second moment
    eps: float = 1e-8  # Adam's epsilon
    clip: float = 5.0  # largest norm of the gradient; 0: none
    prior_bias: bool = False  # start the output bias at the words' log frequencies, counted on a first batch
    soft_width: float = 0.0  # soft targets: width, in words, of the bell around the right mantissa; 0: none
    number_loss: float = 0.0  # weight of the Number Token Loss on mantissas, beside cross-entropy; 0: none
    soft_width_end: float = 0.0  # width to which it shrinks over the last part of the run (cooldown); 0: it does not

    def __post_init__(self) -> None:
        check_types(self)
        for name in ("learning_rate", "muon_learning_rate", "eps"):
            need(getattr(self, name) > 0, f"{name} {getattr(self, name)}: must be positive")
        for name in (
            "warmup_steps",
            "schedule_steps",
            "min_learning_rate",
            "weight_decay",
            "clip",
            "soft_width",
            "soft_width_end",
            "number_loss",
        ):
            need(getattr(self, name) >= 0, f"{name} {getattr(self, name)}: must not be negative")
        if self.soft_width_end > self.soft_width:
            raise ValueError(f"soft_width_end {self.soft_width_end}: must not be above soft_width {self.soft_width}")
        need(0 < self.cooldown <= 1, f"cooldown {self.cooldown}: a share of the run, in (0, 1]")
        for name in ("beta1", "beta2"):
            need(0 <= getattr(self, name) < 1, f"{name} {getattr(self, name)}: must be in [0, 1)")


@dataclass(frozen=True)
class TrainConfig:
    """The budget, and what happens along the way."""

    seed: int = 1  # of the weights and of the data
    init_part: Literal["all", "encoder"] = "all"  # what --init gives: all weights, or the encoder's, to a new decoder
    examples: int = 3_000_000  # how many to train on
    batch_size: int = 64  # examples a step, over all processes
    eval_every: int = 300_000  # examples between evaluations (the paper's epoch)
    eval_num: int = 1_000  # examples of each evaluation, from the validation split
    final_num: int = 10_000  # examples of the final evaluation, from the test split
    checkpoint_seconds: float = 60.0  # at least this often a checkpoint is written
    stop_accuracy: float = 0.0  # stop when an evaluation reaches this share; 0: never
    stop_tolerance: float = 0.05  # tolerance (L1) of that criterion
    workers: int = 1  # threads that make batches ahead; 0: none
    device: str = "auto"  # auto, cpu, cuda, cuda:1, mps
    precision: Literal["auto", "fp32", "bf16"] = "auto"  # auto: bf16 where a measured product is faster in it
    threads: int = 0  # torch's threads; 0: all cores
    compile: bool = False  # torch.compile
    tensorboard: bool = False  # also write TensorBoard events (needs the extra)

    def __post_init__(self) -> None:
        check_types(self)
        for name in ("examples", "batch_size", "eval_every", "eval_num", "final_num"):
            need(getattr(self, name) >= 1, f"{name} {getattr(self, name)}: must be at least 1")
        for name in ("seed", "workers", "threads", "checkpoint_seconds", "stop_tolerance"):
            need(getattr(self, name) >= 0, f"{name} {getattr(self, name)}: must not be negative")
        need(0 <= self.stop_accuracy <= 1, f"stop_accuracy {self.stop_accuracy}: a share from 0 to 1")

    @property
    def num_steps(self) -> int:
        return -(-self.examples // self.batch_size)


@dataclass(frozen=True)
class CurriculumConfig:
    """What training sees besides the problem itself. Validation and test are of the problem alone."""

    easy_share: float = 0.0  # share of batches that have easier examples; 0: none
    easy_until: float = 1.0  # only in this first part of the run
    easy_dim: str = ""  # sizes of easier examples, one size a batch; none: the problem's
    easy_ensemble: tuple[str, ...] = ()  # matrices of easier examples; none: the problem's
    easy_spread: float = 1.0  # power to which easier matrices' singular values are raised, such as 0.1
    easy_grows: bool = False  # sizes grow along that part, from the smallest to the largest, and that power to 1
    repeated_share: float = 0.0  # share of each batch that is drawn from a fixed pool; 0: none
    pool: int = 10_000  # examples of that pool

    def __post_init__(self) -> None:
        check_types(self)
        for name in ("easy_share", "easy_until", "repeated_share"):
            need(0 <= getattr(self, name) <= 1, f"{name} {getattr(self, name)}: a share from 0 to 1")
        need(self.pool >= 1, f"pool {self.pool}: must be at least 1")
        need(0 <= self.easy_spread <= 1, f"easy_spread {self.easy_spread}: a power from 0 to 1")
        can_grow = bool(self.easy_dim) or self.easy_spread < 1
        need(
            (can_grow or bool(self.easy_ensemble)) == bool(self.easy_share),
            "easier examples need easy_share, and easy_dim, easy_ensemble or easy_spread",
        )
        need(can_grow or not self.easy_grows, "easy_grows: say from what, with easy_dim or easy_spread")

    def easier(self, data: DataConfig) -> DataConfig:
        """The easier problem; sizes are not yet one."""
        changes: dict[str, Any] = {"dim": self.easy_dim} if self.easy_dim else {}
        if self.easy_ensemble:
            changes |= {"ensemble": self.easy_ensemble, "ensemble_weights": ()}
        return dataclasses.replace(data, spread=self.easy_spread * data.spread, **changes)
