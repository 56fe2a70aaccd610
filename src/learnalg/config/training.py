"""How it is trained: the optimiser, the loop, and what training sees besides the problem itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from learnalg.config.checks import check_types, need


@dataclass(frozen=True)
class OptimConfig:
    """How the weights move."""

    optimizer: str = "adam"  # adam, adamw:weight_decay=0.01, muon:learning_rate=0.02: `learnalg list optimizers`
    learning_rate: float = 1e-4  # highest learning rate of Adam
    schedule: str = "constant"  # after the warm-up, such as linear:cooldown=0.7: `learnalg list schedules`
    warmup_steps: int = 10_000  # steps over which the learning rate rises from zero
    beta2: float = 0.999  # decay of Adam's second moment
    clip: float = 5.0  # largest norm of the gradient; 0: no limit
    soft_width: float = 0.0  # width of soft targets, in mantissa tokens; 0: hard targets

    def __post_init__(self) -> None:
        check_types(self)
        need(self.learning_rate > 0, f"learning_rate {self.learning_rate}: must be positive")
        for name in ("warmup_steps", "clip", "soft_width"):
            need(getattr(self, name) >= 0, f"{name} {getattr(self, name)}: must not be negative")
        need(0 <= self.beta2 < 1, f"beta2 {self.beta2}: must be in [0, 1)")


@dataclass(frozen=True)
class TrainConfig:
    """The budget, and what happens along the way."""

    seed: int = 1  # seed of the weights and of the data
    init: str = ""  # run or released model to fine-tune from; NAME:encoder takes its encoder only
    examples: int = 3_000_000  # training examples
    batch_size: int = 64  # examples a step, over all processes
    micro_batch: int = 0  # examples that a process holds at once, their gradients are added up; 0: all of its rows
    eval_every: int = 300_000  # examples between evaluations (the paper's epoch)
    eval_num: int = 1_000  # examples of each evaluation, from the validation split
    final_num: int = 10_000  # examples of the final evaluation, from the validation split
    checkpoint_seconds: float = 60.0  # longest time between two checkpoints
    stop_accuracy: float = 0.0  # accuracy at which the run stops; 0: never
    stop_tolerance: float = 0.05  # tolerance of that accuracy (L1)
    workers: int = 1  # threads that make batches ahead; 0: none
    device: str = "auto"  # auto, cpu, cuda, cuda:1, mps
    # mixed: bf16, and fp32 for the last fifth of the steps
    precision: Literal["auto", "fp32", "bf16", "mixed"] = "auto"  # auto: fastest here; mixed: last fifth in fp32
    threads: int = 0  # threads of torch; 0: all cores
    compile: bool = False  # use torch.compile
    skip_nonfinite: bool = False  # skip steps whose loss or gradient is not finite, instead of stopping
    logger: str = ""  # also log to tensorboard, trackio or wandb, each an extra of that name; none: metrics.jsonl only

    def __post_init__(self) -> None:
        check_types(self)
        for name in ("examples", "batch_size", "eval_every", "eval_num", "final_num"):
            need(getattr(self, name) >= 1, f"{name} {getattr(self, name)}: must be at least 1")
        need(
            0 <= self.micro_batch <= self.batch_size,
            f"micro_batch {self.micro_batch}: must be from 0 to batch_size {self.batch_size}",
        )
        for name in ("seed", "workers", "threads", "checkpoint_seconds", "stop_tolerance"):
            need(getattr(self, name) >= 0, f"{name} {getattr(self, name)}: must not be negative")
        need(0 <= self.stop_accuracy <= 1, f"stop_accuracy {self.stop_accuracy}: a share from 0 to 1")
        need(
            self.stop_accuracy > 0 or self.stop_tolerance == 0.05,
            f"stop_tolerance {self.stop_tolerance}: has no effect without stop_accuracy",
        )

    @property
    def num_steps(self) -> int:
        return -(-self.examples // self.batch_size)

    def is_bf16(self, step: int) -> bool:
        """Whether this step, counted from 0, is in bf16."""
        return self.precision == "bf16" or (self.precision == "mixed" and 5 * step < 4 * self.num_steps)

    @property
    def origin(self) -> tuple[str, str]:
        """What the run starts from, and which part of it: ('svd-4', 'encoder'), ('svd-4', 'all') or ('', 'all')."""
        name, colon, part = self.init.rpartition(":")
        return (name, part) if colon and part == "encoder" else (self.init, "all")


@dataclass(frozen=True)
class MixConfig:
    """What training sees besides the problem itself. Validation and test are of the problem alone."""

    mix_share: float = 0.0  # share of batches from other sizes or ensembles; 0: none
    mix_until: float = 1.0  # share of the run, from its start, that has such batches
    mix_dim: str = ""  # sizes of these batches; none: the problem's
    mix_ensemble: tuple[str, ...] = ()  # matrices of these batches, such as near-singular; none: the problem's
    repeated_share: float = 0.0  # share of each batch drawn from a fixed pool of examples; 0: none
    pool: int = 10_000  # size of the pool, of each task and size

    def __post_init__(self) -> None:
        check_types(self)
        for name in ("mix_share", "mix_until", "repeated_share"):
            need(0 <= getattr(self, name) <= 1, f"{name} {getattr(self, name)}: a share from 0 to 1")
        need(self.pool >= 1, f"pool {self.pool}: must be at least 1")
        need(
            bool(self.mix_dim or self.mix_ensemble) == bool(self.mix_share),
            "mixed batches need mix_share, and mix_dim or mix_ensemble",
        )
        need(self.mix_share > 0 or self.mix_until == 1, f"mix_until {self.mix_until}: has no effect without mix_share")
        need(self.repeated_share > 0 or self.pool == 10_000, f"pool {self.pool}: has no effect without repeated_share")


@dataclass(frozen=True)
class StageConfig:
    """A first part of a run, `[[stage]]` in a recipe: how it differs from the run itself."""

    examples: int  # training examples of this part
    dim: str = ""  # its sizes; none: the problem's
    ensemble: tuple[str, ...] = ()  # its matrices; none: the problem's
    rate: float = 1.0  # multiplies all learning rates

    def __post_init__(self) -> None:
        check_types(self)
        need(self.examples >= 1, f"stage: examples {self.examples}: must be at least 1")
        is_other = bool(self.dim or self.ensemble) or self.rate != 1
        need(is_other, "stage: without dim, ensemble or rate it is no other than the run")
        need(self.rate > 0, f"stage: rate {self.rate}: must be positive")
