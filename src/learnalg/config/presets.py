"""Presets: whole configs by name, that recipes and flags start from.

    >>> config = replace_fields(preset("fast"), task="add", dim="3", examples=50_000)

A preset never changes: its name has a version, a recipe names it with that version, and another network is a new
version. A name without a version means the newest.
"""

from __future__ import annotations

from learnalg.config import ModelConfig, OptimConfig, RunConfig, TrainConfig, replace_fields
from learnalg.naming import unknown

# As in the paper's section 3, with the model of its hardest problems.
PAPER = RunConfig(optim=OptimConfig(schedule="cosine:lowest=1e-5,period=4000000"))

_OPTIM = OptimConfig(
    optimizer="muon:learning_rate=0.02",
    learning_rate=3e-3,
    schedule="linear:cooldown=0.7",
    warmup_steps=50,
    beta2=0.99,
    clip=1.0,
    soft_width=3.0,
)

# The network that learned from few examples before relations, products and loops.
FAST_1 = RunConfig(
    model=ModelConfig(
        encoder_layers=4,
        decoder_layers=1,
        dim_model=(128,),
        heads=(4,),
        input_embedding="features",
        output_embedding="ordered",
        positions=("grid",),
        norm="pre",
        output_bias="place",
    ),
    optim=_OPTIM,
    train=TrainConfig(examples=400_000, batch_size=64, eval_every=50_000),
)

# The network that learns from the fewest examples, on a CPU: its layers multiply rows with columns, are applied twice,
# and treat all rows alike.
FAST_2 = replace_fields(
    FAST_1,
    encoder_loops=2,
    heads=8,
    positions=("place", "grid"),
    relations="learned",
    products=32,
    batch_size=32,
    examples=300_000,
    eval_every=20_000,
)

# As fast-2, with logits only for the tokens that can stand at a place: a step with four digits takes three quarters.
FAST_3 = replace_fields(FAST_2, output_bias="slot")

# LSTM and GRU with those parts of fast-1 that they can have.
RECURRENT = replace_fields(
    FAST_1,
    architecture="lstm:embedding_dim=128,memory=100",
    encoder_layers=2,
    decoder_layers=1,
    dim_model=256,
    heads=8,
    batch_size=32,
)

# Exact copies, such as transposition: tokens are looked up and targets are hard.
COPY = replace_fields(
    FAST_1, encoder_layers=1, dim_model=64, input_embedding="lookup", output_embedding="lookup", soft_width=0.0
)

PRESETS: dict[str, RunConfig] = {
    "paper-1": PAPER,
    "fast-1": FAST_1,
    "fast-2": FAST_2,
    "fast-3": FAST_3,
    "copy-1": COPY,
    "recurrent-1": RECURRENT,
}


def full_name(name: str) -> str:
    """With its version: the newest where none is given."""
    versions = [known for known in PRESETS if known.rpartition("-")[0] == name]
    return name if name in PRESETS or not versions else versions[-1]


def preset(name: str) -> RunConfig:
    if full_name(name) not in PRESETS:
        raise unknown("preset", name, (*dict.fromkeys(known.rpartition("-")[0] for known in PRESETS), *PRESETS))
    return PRESETS[full_name(name)]
