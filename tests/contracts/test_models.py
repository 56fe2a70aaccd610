"""What every architecture must do: each entry of MODELS with each ModelConfig below, and with variants of its own.

Weights are shaken after building: a sublayer that starts at zero would pass most of these tests by doing nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from learnalg.config import ModelConfig
from learnalg.models import MODELS, build, check_model, count_parameters, side_of
from learnalg.models.embeddings import EMBEDDINGS, POSITIONS
from learnalg.config.presets import PRESETS
from learnalg.tokens.tokenizer import END, FIRST_DIM, PAD, Tokenizer

SMALL: dict[str, Any] = {
    "encoder_layers": 2,
    "decoder_layers": 2,
    "dim_model": 16,
    "heads": 2,
    "max_positions": 64,
}
PAPER = replace(PRESETS["paper"].model, **SMALL)
FAST = replace(PRESETS["fast"].model, relations=False, products=0, **SMALL)  # recurrent networks have neither
VARIANTS: dict[str, ModelConfig] = {
    "paper": PAPER,
    "fast": FAST,
    "sides-differ": replace(
        PAPER, encoder_layers=1, encoder_dim=24, encoder_heads=3, decoder_layers=2, decoder_dim=8, decoder_heads=4
    ),
    "rms": replace(PAPER, norm_kind="rms"),
    "fast-rms": replace(FAST, norm_kind="rms"),
    "pre": replace(PAPER, norm="pre"),
    "qk-norm": replace(PAPER, qk_norm=True),
    "untied": replace(PAPER, tied=False),
    "bias-by-place": replace(PAPER, output_bias="place"),
    "cross-query-input": replace(PAPER, cross_query="input"),
    "no-bias": replace(PAPER, bias=False),
    "gelu": replace(PAPER, activation="gelu"),
    "relu2": replace(PAPER, activation="relu2"),
    "dropout": replace(PAPER, dropout=0.3),
    "ordered-output": replace(PAPER, output_embedding="ordered"),
    "decades-output": replace(PAPER, output_embedding="decades"),
    "ordered-output-untied": replace(PAPER, output_embedding="ordered", tied=False),
    **{f"positions-{name}": replace(PAPER, positions=name) for name in POSITIONS if name != PAPER.positions},
    **{f"embedding-{name}": replace(PAPER, input_embedding=name) for name in EMBEDDINGS if name != "lookup"},
}
RECURRENT = {
    "embedding-dim": replace(PAPER, embedding_dim=12),
    "deep-encoder": replace(PAPER, encoder_layers=3, decoder_layers=1),
}
RELATIONS = {
    "relations": replace(PAPER, relations=True),
    "relations-from-the-start": replace(PAPER, relations=True, relation_start=12.0),
    "fast-relations": replace(FAST, relations=True),
    "products": replace(PAPER, products=3),
    "fast-products": replace(FAST, relations=True, products=3),
    "products-of-tokens": replace(FAST, relations=True, products=3, product_norm="token"),
}
OWN_VARIANTS: dict[str, dict[str, ModelConfig]] = {
    "lstm": RECURRENT,
    "gru": RECURRENT,
    "transformer": RELATIONS,
    "universal": {
        **RELATIONS,
        "both-loop": replace(PAPER, decoder_loops=3),
        "decoder-loops": replace(PAPER, encoder_layers=1, decoder_layers=1, encoder_loops=1, decoder_loops=4),
        "copy": replace(PAPER, decoder_loops=2, loop_gate="copy"),
        "fast-copy": replace(FAST, decoder_loops=2, loop_gate="copy"),
        "act": replace(PAPER, decoder_loops=3, loop_gate="act"),
        "fast-act": replace(FAST, decoder_loops=3, loop_gate="act"),
    },
}
SOURCE = Tokenizer("floating:digits=1,exponents=-1:1")
TARGET = Tokenizer("positional:base=10,digits=1,exponents=-1:1")
JOINT = (Tokenizer(SOURCE.encoding_name, ("transpose", "add")), Tokenizer(TARGET.encoding_name, ("transpose", "add")))

MODELS_AS_THEY_ARE = dict(MODELS)

every_model = pytest.mark.parametrize(
    ("architecture", "config"),
    [
        pytest.param(architecture, config, id=f"{architecture}-{variant}")
        for architecture in MODELS
        for variant, config in (VARIANTS | OWN_VARIANTS.get(architecture, {})).items()
    ],
)
every_architecture = pytest.mark.parametrize("architecture", MODELS)


def make(architecture: str, config: ModelConfig, seed: int = 0, joint: bool = False, shaken: bool = True) -> nn.Module:
    torch.manual_seed(seed)
    tokenizers = JOINT if joint else (SOURCE, TARGET)
    model = build(replace(config, architecture=architecture), *map(side_of, tokenizers)).eval()
    if shaken:
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(torch.randn_like(parameter), alpha=0.2)
    return model


def padded(rows: list[np.ndarray], extra: int = 0) -> Tensor:
    ids = np.full((len(rows), max(map(len, rows)) + extra), PAD)
    for k, row in enumerate(rows):
        ids[k, : len(row)] = row
    return torch.from_numpy(ids)


def examples(shapes: list[tuple[int, int]], joint: bool = False, extra: int = 0) -> tuple[Tensor, Tensor]:
    """Random matrices, and their transposes as the decoder reads them."""
    rng = np.random.default_rng(0)
    source, target = JOINT if joint else (SOURCE, TARGET)
    sources, targets = [], []
    for k, shape in enumerate(shapes):
        matrix = rng.uniform(-9, 9, (1, *shape))
        sources.append(source.encode(matrix, task=k % 2 if joint else 0)[0])
        targets.append(np.append(END, target.encode(matrix.transpose(0, 2, 1), task=k % 2 if joint else 0)[0]))
    return padded(sources, extra), padded(targets)


SAME = [(2, 2), (2, 2), (2, 2)]
MIXED = [(2, 2), (1, 2), (3, 1), (1, 1)]


def close(a: Tensor, b: Tensor) -> None:
    torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-5)


def stepped(model: Any, source: Tensor, target: Tensor, max_length: int) -> Tensor:
    state = model.begin(source, max_length)
    return torch.stack([model.step(tokens, state) for tokens in target.T], dim=1)


def tensors(state: Any) -> list[Tensor]:
    """The leaves of nested dicts and lists."""
    if isinstance(state, dict | list):
        return [leaf for entry in (state.values() if isinstance(state, dict) else state) for leaf in tensors(entry)]
    return [state] if isinstance(state, Tensor) else []


@every_model
@torch.inference_mode()
def test_it_is_causal(architecture, config):
    model = make(architecture, config)
    source, target = examples(MIXED)
    B, T = target.shape
    before = model(source, target)
    change_BT = torch.randint(1, TARGET.vocab_size, (B, T), generator=torch.Generator().manual_seed(1))
    other = (target + change_BT) % TARGET.vocab_size
    # Copy k of the batch keeps its first k tokens: every later one is another.
    keeps_KT = torch.arange(T) < torch.arange(1, T)[:, None]
    changed_KBT = torch.where(keeps_KT[:, None], target, other)
    after_KBTV = model(source.repeat(T - 1, 1), changed_KBT.flatten(0, 1)).unflatten(0, (T - 1, B))
    for k, after in enumerate(after_KBTV, start=1):
        close(after[:, :k], before[:, :k])
        assert (after[:, k] - before[:, k]).abs().amax(1).min() > 1e-3  # and it does read its own


@every_model
@torch.inference_mode()
def test_it_reads_every_source_token(architecture, config):
    model = make(architecture, config)
    source, target = examples(SAME)
    source, target = source[:1], target[:1]
    at = torch.eye(source.shape[1], dtype=torch.bool)  # copy k of the example has another token k
    changed = torch.where(at, torch.where(source == FIRST_DIM, FIRST_DIM + 1, FIRST_DIM), source)
    difference = model(changed, target.expand(len(changed), -1)) - model(source, target)
    assert difference.abs().amax((1, 2)).min() > 1e-3


@every_model
@torch.inference_mode()
def test_it_ignores_source_padding(architecture, config):
    model = make(architecture, config)
    source, target = examples(MIXED)
    logits = model(source, target)
    close(model(examples(MIXED, extra=5)[0], target), logits)
    for row in range(len(MIXED)):
        alone = source[row][source[row] != PAD][None]
        close(model(alone, target[row : row + 1]), logits[row : row + 1])


@every_model
@torch.inference_mode()
def test_the_promise_of_no_padding_changes_nothing(architecture, config):
    model = make(architecture, config)
    source, target = examples(SAME)
    close(model(source, target, padded=False), model(source, target, padded=True))


@every_model
@pytest.mark.parametrize(
    ("shapes", "joint", "extra"),
    [(SAME, False, 0), (MIXED, False, 0), (MIXED, True, 3)],
    ids=["same", "mixed", "joint"],
)
@torch.inference_mode()
def test_steps_give_the_logits_of_teacher_forcing(architecture, config, shapes, joint, extra):
    model = make(architecture, config, joint=joint)
    source, target = examples(shapes, joint, extra)
    close(stepped(model, source, target, target.shape[1] + extra), model(source, target))


@every_model
@torch.inference_mode()
def test_a_decodings_rows_can_be_reordered(architecture, config):
    model: Any = make(architecture, config)
    source, target = examples(MIXED)
    rows = torch.tensor([2, 0, 0, 3])

    def reorder(state: Any) -> Any:
        if isinstance(state, dict):
            return {key: reorder(value) for key, value in state.items()}
        if isinstance(state, list):
            return [reorder(value) for value in state]
        return state[rows] if isinstance(state, Tensor) else state

    state = model.begin(source, target.shape[1])
    for k in range(5):
        model.step(target[:, k], state)
    assert all(len(leaf) == len(source) for leaf in tensors(state))
    close(model.step(target[rows, 5], reorder(state)), model(source, target)[rows, 5])


@every_model
@torch.inference_mode()
def test_it_reloads_to_the_same_logits(architecture, config):
    model, other = make(architecture, config), make(architecture, config, seed=1)
    source, target = examples(MIXED)
    assert not torch.equal(other(source, target), model(source, target))
    other.load_state_dict({name: value.clone() for name, value in model.state_dict().items()})
    assert torch.equal(other(source, target), model(source, target))


@every_model
def test_every_parameter_receives_a_gradient(architecture, config):
    model = make(architecture, config)
    source, target = examples(MIXED)
    nn.functional.cross_entropy(model(source, target)[:, :-1].flatten(0, 1), target[:, 1:].flatten()).backward()
    # What is added to all keys alike moves all scores alike, and a softmax does not see it.
    moot = "key_norm.bias" if config.qk_norm else "key.bias"
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        largest = parameter.grad.abs().max()
        assert largest < 1e-6 if name.endswith(moot) else largest > 1e-6, f"{name}: {largest}"


@pytest.mark.parametrize("tied", [True, False], ids=["tied", "untied"])
def test_only_the_rows_of_words_read_receive_a_gradient_unless_they_are_predicted_too(tied):
    """A tied table is the output projection as well, and there every word is a candidate."""
    model: Any = make("transformer", replace(PAPER, tied=tied))
    source, target = examples(MIXED)
    model(source, target).logsumexp(-1).sum().backward()
    for table, tokens, everywhere in (
        (model.encoder.embed.words.weight, source[source != PAD], False),
        (model.decoder.embed.words.weight, target, tied),
    ):
        rows = (table.grad != 0).any(1)
        assert set(tokens.unique().tolist()) <= set(rows.nonzero().flatten().tolist())
        assert rows.all() == everywhere


@every_model
@torch.inference_mode()
def test_the_prior_adds_the_log_frequencies_of_words(architecture, config):
    """Of words anywhere, or at the same place of a number; each counts a hundredth more than it occurs."""
    model: Any = make(architecture, config, shaken=False)
    source, target = examples(SAME)
    shapes = [(1, 1), (2, 1), (3, 2), (1, 2)]
    _, written = examples(shapes)
    written = torch.cat([written[:, 1:], torch.full((len(shapes), 1), PAD)], dim=1)
    written[torch.arange(len(shapes)), torch.tensor([TARGET.length(shape) for shape in shapes])] = END
    before = model(source, target)
    model.set_prior(written)
    prior_BTV = model(source, target) - before

    place = [-1, -2] + [k % TARGET.width for k in range(written.shape[1])]  # those of the header are their own
    for k in range(target.shape[1]):
        alike = [j for j in range(written.shape[1]) if config.output_bias == "word" or place[j] == place[k]]
        words = written[:, alike][written[:, alike] != PAD]
        counts = torch.bincount(words, minlength=TARGET.vocab_size) + 0.01
        close(prior_BTV[:, k], (counts / counts.sum()).log().expand(len(source), -1))


@every_model
def test_the_seed_gives_the_weights(architecture, config):
    weights, again, others = (make(architecture, config, seed, shaken=False).state_dict() for seed in (5, 5, 6))
    assert weights.keys() == again.keys()
    assert all(torch.equal(weights[name], again[name]) for name in weights)
    assert not all(torch.equal(weights[name], others[name]) for name in weights)


@every_model
def test_counted_parameters_are_those_of_the_built_model(architecture, config):
    config = replace(config, architecture=architecture)
    counted = count_parameters(config, side_of(SOURCE), side_of(TARGET))
    assert sum(counted.values()) == sum(p.numel() for p in make(architecture, config).parameters())
    assert all(number > 0 for number in counted.values())


@every_model
def test_counting_takes_no_memory(architecture, config, monkeypatch):
    """Every tensor of the model that is counted is on the meta device, which has shapes only."""
    made = []

    def remember(*arguments: Any) -> nn.Module:
        made.append(MODELS_AS_THEY_ARE[architecture](*arguments))
        return made[-1]

    monkeypatch.setitem(MODELS, architecture, remember)
    count_parameters(replace(config, architecture=architecture), side_of(SOURCE), side_of(TARGET))
    (model,) = made
    assert all(tensor.is_meta for tensor in (*model.parameters(), *model.buffers()))


@pytest.mark.parametrize("cross_query", ["sequential", "input"])
@torch.inference_mode()
def test_what_the_encoder_is_asked_with(cross_query):
    """The layer's input, as the paper's published code does, or what self-attention made of it."""
    model: Any = make("transformer", replace(PAPER, cross_query=cross_query))
    source, target = examples(SAME)
    asked = []
    model.decoder.layers[0].cross.query.register_forward_pre_hook(lambda module, arguments: asked.append(*arguments))
    model(source, target)
    assert torch.equal(asked[0], model.decoder.embed(target)) == (cross_query == "input")


@every_architecture
def test_dropout_drops_in_training_only(architecture):
    model = make(architecture, VARIANTS["dropout"])
    source, target = examples(SAME)
    assert torch.equal(model(source, target), model(source, target))
    model.train()
    assert not torch.equal(model(source, target), model(source, target))


@pytest.mark.parametrize("field", ["architecture", "input_embedding", "positions"])
def test_an_unknown_name_is_refused(field):
    with pytest.raises(ValueError, match=r"unknown .* 'nothing'; known: "):
        check_model(replace(PAPER, **{field: "nothing"}))
