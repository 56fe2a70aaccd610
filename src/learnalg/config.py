"""What a run is made of: five frozen dataclasses, checked where they are built.

    >>> replace_fields(RunConfig(), task="add", dim="3", examples=50_000).data.dim
    '3'

Every field is a flag of `learnalg train` (`--dim-model 256`), and its comment is that flag's help.
"""

from __future__ import annotations

import dataclasses
import typing
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from learnalg.checks import check_types, need
from learnalg.encodings import get_encoding
from learnalg.matrices import MAX_DIM, SQUARE_ENSEMBLES, Dims, Ensemble
from learnalg.tasks import COTRAINING, Task, get_task, parse_subset
from learnalg.tokenizer import Tokenizer


@dataclass(frozen=True)
class DataConfig:
    """The problem, the matrices and the encodings."""

    task: str = "eigenvalues"  # what to learn: `learnalg list tasks`
    subset: tuple[str, ...] = ()  # with --task cotraining: names of tasks, or the paper's letters (TADM)
    task_options: tuple[str, ...] = ()  # such as order=ascending
    dim: str = "5"  # 5, 6x4, 5-10 (square, drawn per example) or 5-10x5-10 (rectangular)
    ensemble: tuple[str, ...] = ("iid-uniform",)  # one, or several to mix: `learnalg list ensembles`
    ensemble_weights: tuple[float, ...] = ()  # weights of a mixture, equal by default
    amplitude: tuple[float, ...] = (10.0,)  # A of the coefficients in [-A, A]; two numbers for a range
    sigma_factor: float = 1.0  # multiplies the coefficients' standard deviation
    conditioned: float = 1.0  # of the matrices that are drawn only this share is taken, the best conditioned
    symmetric: bool = False  # draw symmetric matrices although the task does not ask for it
    noise: float = 0.0  # gaussian input noise, as a fraction of the coefficients' standard deviation
    input_encoding: str = "fp15"  # `learnalg list encodings`
    output_encoding: str = "p1000"  # `learnalg list encodings`

    def __post_init__(self) -> None:
        check_types(self)
        need(0 <= self.noise < 10, f"noise {self.noise}: a fraction from 0 to 10")
        need(len(self.amplitude) in (1, 2), f"amplitude {self.amplitude}: one number, or two for a range")
        if self.task == COTRAINING:
            parse_subset(self.subset)
            need(not self.task_options, "cotraining takes no task options")
        else:
            need(not self.subset, f"subset is for --task {COTRAINING}, not for {self.task}")
        get_encoding(self.input_encoding)
        get_encoding(self.output_encoding)
        _ = self.ensemble_spec
        dims = self.dims
        for name, task in self.tasks:
            if (task.square or task.symmetric or self.symmetric) and not dims.square:
                raise ValueError(f"task {name} needs square matrices: dim {self.dim!r} is rectangular")
            m, n = dims.rows[1], dims.cols[1]
            shapes = task.operands(m, n)
            has_rectangles = not dims.square or any(rows != cols for rows, cols in shapes)
            if self.symmetric and has_rectangles:
                raise ValueError(f"task {name} has operands that cannot be symmetric")
            for ensemble in self.ensemble:
                if ensemble in SQUARE_ENSEMBLES and has_rectangles:
                    raise ValueError(f"ensemble {ensemble!r} draws square matrices, and task {name} here needs others")
            largest = max(*task.input_shape(m, n), *task.output_shape(m, n))
            need(largest <= MAX_DIM, f"task {name} at dim {self.dim}: a dimension of {largest}, more than {MAX_DIM}")

    @property
    def dims(self) -> Dims:
        return Dims.parse(self.dim)

    @cached_property
    def ensemble_spec(self) -> Ensemble:
        amplitude = (self.amplitude[0], self.amplitude[-1])
        return Ensemble(self.ensemble, self.ensemble_weights, amplitude, self.sigma_factor, self.conditioned)

    @cached_property
    def tasks(self) -> tuple[tuple[str, Task], ...]:
        if self.task == COTRAINING:
            return tuple((name, get_task(name)) for name in parse_subset(self.subset))
        options = {}
        for text in self.task_options:
            key, equals, value = text.partition("=")
            need(bool(equals), f"task option {text!r}: expected name=value")
            options[key] = value
        return ((self.task, get_task(self.task, options)),)

    @cached_property
    def tokenizers(self) -> tuple[Tokenizer, Tokenizer]:
        names = tuple(name for name, _ in self.tasks) if self.task == COTRAINING else ()
        return Tokenizer(self.input_encoding, names), Tokenizer(self.output_encoding, names)

    @cached_property
    def lengths(self) -> tuple[int, int]:
        """The longest source, and the longest target with its end token."""
        m, n = self.dims.rows[1], self.dims.cols[1]
        source, target = self.tokenizers
        longest_source = max(source.length(task.input_shape(m, n)) for _, task in self.tasks)
        longest_target = max(target.length(task.output_shape(m, n)) for _, task in self.tasks) + 1
        return longest_source, longest_target


@dataclass(frozen=True)
class ModelConfig:
    """The network. Sizes given for one side go before those given for both."""

    architecture: str = "transformer"  # `learnalg list architectures`
    encoder_layers: int = 6  # layers of the encoder
    decoder_layers: int = 1  # layers of the decoder
    dim_model: int = 512  # dimensions of both sides
    encoder_dim: int = 0  # dimensions of the encoder; 0: dim_model
    decoder_dim: int = 0  # dimensions of the decoder; 0: dim_model
    heads: int = 8  # attention heads of both sides
    encoder_heads: int = 0  # attention heads of the encoder; 0: heads
    decoder_heads: int = 0  # attention heads of the decoder; 0: heads
    ffn_factor: int = 4  # hidden units of the feed-forward network, in dimensions
    dropout: float = 0.0  # share of activations dropped in training
    max_positions: int = 512  # longest sequence
    input_embedding: str = "lookup"  # of the encoder's words: `learnalg list embeddings`
    output_embedding: str = "lookup"  # of the decoder's words; others than lookup and ordered need --no-tied
    embedding_dim: int = 0  # dimensions of a recurrent model's words, on both sides; 0: those of the side
    memory: int = 0  # longest memory, in tokens, that a recurrent model's gates begin with; 0: gates as torch has them
    positions: str = "learned"  # learned, grid (row, column, place in the number) or none
    norm: Literal["post", "pre"] = "post"  # normalise after (the paper) or before each sublayer
    norm_kind: str = "layer"  # layer or rms: `learnalg list norms`
    activation: str = "relu"  # of the feed-forward network: relu, gelu or relu2
    qk_norm: bool = False  # normalise queries and keys
    bias: bool = True  # biases in linear layers
    zero_init: bool = False  # start each sublayer's output projection at zero
    tied: bool = True  # output projection shares the decoder's embedding
    output_bias: Literal["word", "place"] = "word"  # a bias a word, or one for each place within a number
    cross_query: Literal["sequential", "input"] = "sequential"  # input: as in the paper's published code
    encoder_loops: int = 4  # times that a universal transformer goes through its encoder's layers
    decoder_loops: int = 1  # times that a universal transformer goes through its decoder's layers
    loop_gate: Literal["none", "copy", "act"] = "none"  # of those loops; copy: gates mix old and new; act: tokens halt
    ponder_cost: float = 0.01  # weight in the loss of the loops that tokens take before they halt, with act

    def __post_init__(self) -> None:
        check_types(self)
        for name in (
            *("encoder_layers", "decoder_layers", "dim_model", "heads", "ffn_factor", "max_positions"),
            *("encoder_loops", "decoder_loops"),
        ):
            need(getattr(self, name) >= 1, f"{name} {getattr(self, name)}: must be at least 1")
        for name in ("embedding_dim", "memory", "ponder_cost"):
            need(getattr(self, name) >= 0, f"{name} {getattr(self, name)}: must not be negative")
        need(self.memory != 1 and (self.bias or not self.memory), f"memory {self.memory}: at least 2, and with biases")
        for side in ("encoder", "decoder"):
            dim, heads = self.width(side), self.num_heads(side)
            need(dim >= 1 and heads >= 1, f"{side}: {dim} dimensions and {heads} heads: at least 1 of each")
            need(dim % heads == 0, f"{side}: {heads} heads do not divide {dim} dimensions")
        need(0 <= self.dropout < 1, f"dropout {self.dropout}: must be in [0, 1)")

    def num_layers(self, side: str) -> int:
        return int(getattr(self, f"{side}_layers"))

    def width(self, side: str) -> int:
        return int(getattr(self, f"{side}_dim")) or self.dim_model

    def words_width(self, side: str) -> int:
        """Of a recurrent model's embeddings; a transformer's are as wide as the side."""
        return self.embedding_dim or self.width(side)

    def num_heads(self, side: str) -> int:
        return int(getattr(self, f"{side}_heads")) or self.heads


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
    easy_conditioned: float = 1.0  # of these only this share is taken, the best conditioned
    easy_grows: bool = False  # sizes grow along that part, from the smallest to the largest, and that share to 1
    repeated_share: float = 0.0  # share of each batch that is drawn from a fixed pool; 0: none
    pool: int = 10_000  # examples of that pool

    def __post_init__(self) -> None:
        check_types(self)
        for name in ("easy_share", "easy_until", "repeated_share"):
            need(0 <= getattr(self, name) <= 1, f"{name} {getattr(self, name)}: a share from 0 to 1")
        need(self.pool >= 1, f"pool {self.pool}: must be at least 1")
        can_grow = bool(self.easy_dim) or self.easy_conditioned < 1
        need(
            (can_grow or bool(self.easy_ensemble)) == bool(self.easy_share),
            "easier examples need easy_share, and easy_dim, easy_ensemble or easy_conditioned",
        )
        need(can_grow or not self.easy_grows, "easy_grows: say from what, with easy_dim or easy_conditioned")

    def easier(self, data: DataConfig) -> DataConfig:
        """The easier problem; sizes are not yet one."""
        changes: dict[str, Any] = {"dim": self.easy_dim} if self.easy_dim else {}
        if self.easy_ensemble:
            changes |= {"ensemble": self.easy_ensemble, "ensemble_weights": ()}
        return dataclasses.replace(data, conditioned=self.easy_conditioned * data.conditioned, **changes)


@dataclass(frozen=True)
class RunConfig:
    """All of a run."""

    data: DataConfig = field(default_factory=DataConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    optim: OptimConfig = field(default_factory=OptimConfig)
    train: TrainConfig = field(default_factory=TrainConfig)
    curriculum: CurriculumConfig = field(default_factory=CurriculumConfig)

    def __post_init__(self) -> None:
        check_types(self)
        for data in (self.data, self.curriculum.easier(self.data)):
            for side, length in zip(("input", "output"), data.lengths, strict=True):
                if length > self.model.max_positions:
                    raise ValueError(
                        f"the longest {side} has {length} tokens, more than max_positions {self.model.max_positions}: "
                        f"raise --max-positions or choose a shorter encoding"
                    )


def to_dict(config: RunConfig) -> dict[str, Any]:
    return dataclasses.asdict(config)


def from_dict(values: dict[str, Any]) -> RunConfig:
    """The tables data, model, optim, train, curriculum; what they do not say has its default. A typo is an error."""
    parts = typing.get_type_hints(RunConfig)
    for table, entries in values.items():
        if table not in parts or not isinstance(entries, dict):
            raise ValueError(f"config: unknown table {table!r}; known: {', '.join(parts)}")
        known = [f.name for f in dataclasses.fields(parts[table])]
        for name in entries:
            if name not in known:
                raise ValueError(f"config: unknown key {table}.{name}; known: {', '.join(known)}")
    # A list in a file is a tuple here; types and values are checked where the dataclasses are built.
    return RunConfig(
        **{
            table: parts[table](**{k: tuple(v) if isinstance(v, list) else v for k, v in entries.items()})
            for table, entries in values.items()
        }
    )


def replace_fields(config: RunConfig, **changes: Any) -> RunConfig:
    """Fields by their own names, wherever they live: replace_fields(config, dim='3', examples=1000)."""
    parts: dict[str, Any] = {}
    for part in dataclasses.fields(config):
        value = getattr(config, part.name)
        own = {f.name for f in dataclasses.fields(value)} & changes.keys()
        parts[part.name] = dataclasses.replace(value, **{name: changes.pop(name) for name in own})
    if changes:
        raise ValueError(f"unknown config field {', '.join(changes)}")
    return RunConfig(**parts)
