"""What every architecture must do: each entry of MODELS with the variants below, and with variants of its own.

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
from learnalg.config.presets import PRESETS
from learnalg.models import MODELS, build, count_parameters, side_of
from learnalg.models.embeddings import EMBEDDINGS, OUTPUTS, POSITIONS
from learnalg.models.outputs import NEVER
from learnalg.models.ready import Ready, Writing, ready_of
from learnalg.tokens.tokenizer import END, FIRST_DIM, PAD, Tokenizer

SMALL: dict[str, Any] = {"encoder_layers": 2, "decoder_layers": 2, "dim_model": (32,), "max_positions": 64}
PAPER = replace(PRESETS["paper-1"].model, **SMALL)
FAST = replace(PRESETS["recurrent-1"].model, architecture="transformer", **SMALL)  # what all can have of `fast`
VARIANTS: dict[str, ModelConfig] = {
    "paper": PAPER,
    "fast": FAST,
    "sides-differ": replace(PAPER, encoder_layers=1, dim_model=(48, 24)),
    "bias-by-place": replace(PAPER, output_bias="place"),
    "slots": replace(FAST, output_bias="slot"),
    "no-positions": replace(PAPER, positions=("none",)),
    "dropout": replace(PAPER, dropout=0.3),
}
FULL = replace(FAST, relations="learned", products=3, positions=("place", "grid"))
LOOPED = replace(FULL, encoder_loops=2)
OWN_VARIANTS: dict[str, dict[str, ModelConfig]] = {
    "lstm": {
        "embedding-dim": replace(PAPER, architecture="lstm:embedding_dim=12"),
        "memory": replace(PAPER, architecture="lstm:memory=9"),
        "deep-encoder": replace(PAPER, encoder_layers=3, decoder_layers=1),
    },
    "gru": {
        "embedding-dim-memory": replace(PAPER, architecture="gru:embedding_dim=12,memory=9"),
        "deep-encoder": replace(PAPER, encoder_layers=3, decoder_layers=1),
    },
    "transformer": {
        "heads-differ": replace(PAPER, heads=(4, 2), ffn_factor=2),
        "pre": replace(PAPER, norm="pre"),
        "cross-query-input": replace(PAPER, architecture="transformer:cross_query=input"),
        "source-ends": replace(PAPER, architecture="transformer:cross_query=input,source_ends=true"),
        "relations": replace(PAPER, relations="learned"),
        "directed-relations": replace(PAPER, relations="directed"),
        "products": replace(PAPER, products=3),
        "products-of-tokens": replace(FULL, architecture="transformer:product_norm=token"),
        "relations-and-products": FULL,
        "loops": replace(PAPER, encoder_loops=2, decoder_loops=3),
        "decoder-loops": replace(PAPER, encoder_layers=1, decoder_layers=1, decoder_loops=4),
        "looped": LOOPED,
        "copy": replace(LOOPED, architecture="transformer:loop_gate=copy", decoder_loops=2),
        "act": replace(PAPER, architecture="transformer:loop_gate=act", encoder_loops=2, decoder_loops=3),
        "looped-act": replace(LOOPED, architecture="transformer:loop_gate=act"),
        **{
            f"positions-{name}": replace(PAPER, positions=(name,))
            for name in POSITIONS
            if name not in ("none", "learned")
        },
        **{f"input-{name}": replace(PAPER, input_embedding=name) for name in EMBEDDINGS if name != "lookup"},
        **{f"output-{name}": replace(PAPER, output_embedding=name) for name in OUTPUTS if name != "lookup"},
    },
}
SOURCE = Tokenizer("floating:digits=1,exponents=-1:1")
TARGET = Tokenizer("positional:base=10,digits=1,exponents=-1:1")
JOINT = (Tokenizer(SOURCE.encoding_name, ("transpose", "add")), Tokenizer(TARGET.encoding_name, ("transpose", "add")))

every_model = pytest.mark.parametrize(
    ("architecture", "config"),
    [
        pytest.param(architecture, config, id=f"{architecture}-{variant}")
        for architecture in MODELS
        for variant, config in (VARIANTS | OWN_VARIANTS.get(architecture, {})).items()
    ],
)
every_architecture = pytest.mark.parametrize("architecture", MODELS)


def named(config: ModelConfig, architecture: str) -> ModelConfig:
    """Of that architecture, with the options that a variant has."""
    _, colon, options = config.architecture.partition(":")
    return replace(config, architecture=architecture + colon + options)


def make(architecture: str, config: ModelConfig, seed: int = 0, joint: bool = False, shaken: bool = True) -> nn.Module:
    torch.manual_seed(seed)
    tokenizers = JOINT if joint else (SOURCE, TARGET)
    model = build(named(config, architecture), *map(side_of, tokenizers)).eval()
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
        assert (after[:, k] - before[:, k]).abs().amax(1).min() > 1e-4  # and it does read its own


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


def ready_logits(ready: Ready, tokens_NB: Tensor, writing: Writing) -> Tensor:
    """(N, B, V); tokens that cannot stand at a place are far below."""
    at = writing.at
    rows = []
    for k, hidden_BD in enumerate(ready.read(tokens_NB, writing)):
        logits_BK, first = ready.logits(hidden_BD, at + k)
        row = torch.full((len(hidden_BD), ready.target.vocab_size), -1e4)
        row[:, first : first + logits_BK.shape[1]] = logits_BK
        rows.append(row)
    return torch.stack(rows)


@pytest.mark.parametrize(
    "config", (VARIANTS | OWN_VARIANTS["transformer"]).values(), ids=VARIANTS | OWN_VARIANTS["transformer"]
)
@pytest.mark.parametrize("joint", [False, True], ids=["alone", "joint"])
@pytest.mark.parametrize("is_header_known", [False, True])
def test_what_is_ready_to_predict_has_the_logits_of_the_forward_pass(config, joint, is_header_known):
    model: Any = make("transformer", config, joint=joint)
    source, target = examples(SAME[:1] if joint else SAME, joint)
    source, target = source.repeat(2, 1), target.repeat(2, 1)
    source[1, -1] = source[0, -2]  # not twice the same
    target[1, -1] = target[0, -2]
    with torch.inference_mode():
        expected = model(source, target)
        ready = ready_of(model)
        assert ready is not None
        header = ready.header_of(source)
        assert header is not None
        writing = ready.begin(source, header, target.shape[1] + 3)
        written = tuple(target[0, 1 : 1 + ready.header].tolist())
        if is_header_known:
            ready.set_header(writing, written)
            logits = [ready_logits(ready, target[:, : 1 + ready.header].T, writing)]
        else:
            logits = [ready_logits(ready, target[:, k : k + 1].T, writing) for k in range(ready.header)]
            ready.set_header(writing, written)
        logits += [ready_logits(ready, target[:, k : k + 1].T, writing) for k in range(writing.at, target.shape[1])]
    torch.testing.assert_close(torch.cat(logits).transpose(0, 1), expected, atol=3e-5, rtol=3e-5)


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
    moot = "key.bias"
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        largest = parameter.grad.abs().max()
        assert largest < 1e-6 if name.endswith(moot) else largest > 1e-6, f"{name}: {largest}"


def test_only_rows_of_tokens_read_receive_a_gradient_unless_they_are_predicted_too():
    """The decoder's table is the output projection as well, and there every token is a candidate."""
    model: Any = make("transformer", PAPER)
    source, target = examples(MIXED)
    model(source, target).logsumexp(-1).sum().backward()
    for table, tokens, everywhere in (
        (model.encoder.embed.words.weight, source[source != PAD], False),
        (model.decoder.embed.words.weight, target, True),
    ):
        rows = (table.grad != 0).any(1)
        assert set(tokens.unique().tolist()) <= set(rows.nonzero().flatten().tolist())
        assert rows.all() == everywhere


@every_model
def test_hidden_matrices_are_matrices_of_the_layers_on_both_sides(architecture, config):
    """What Muon moves: parameters of the model, each once; no embedding, no bias, and no row of the output."""
    model: Any = make(architecture, config)
    hidden = model.hidden_matrices()
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    found = [names[id(parameter)] for parameter in hidden]
    assert len(set(found)) == len(found) and all(parameter.ndim == 2 for parameter in hidden)
    assert {name.split(".")[0] for name in found} == {"encoder", "decoder"}
    assert not any("embed" in name for name in found)
    rest = [name for name, p in model.named_parameters() if ".layers." in name and p.ndim == 2 and name not in found]
    assert not rest


@every_model
@torch.inference_mode()
def test_the_prior_adds_the_log_frequencies_of_tokens(architecture, config):
    """Of tokens anywhere, or at the same place of a coefficient; each counts a hundredth more than it occurs."""
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
        alike = [j for j in range(written.shape[1]) if config.output_bias == "token" or place[j] == place[k]]
        tokens = written[:, alike][written[:, alike] != PAD]
        counts = torch.bincount(tokens, minlength=TARGET.vocab_size) + 0.01
        expected = (counts / counts.sum()).log().where(before[0, k] > NEVER, 0.0)
        close(prior_BTV[:, k], expected.expand(len(source), -1))


@every_model
def test_the_seed_gives_the_weights(architecture, config):
    weights, again, others = (make(architecture, config, seed, shaken=False).state_dict() for seed in (5, 5, 6))
    assert weights.keys() == again.keys()
    assert all(torch.equal(weights[name], again[name]) for name in weights)
    assert not all(torch.equal(weights[name], others[name]) for name in weights)


@every_model
def test_counted_parameters_are_those_of_the_built_model(architecture, config):
    counted = count_parameters(named(config, architecture), side_of(SOURCE), side_of(TARGET))
    assert sum(counted.values()) == sum(p.numel() for p in make(architecture, config).parameters())
    assert all(number > 0 for number in counted.values())


@every_model
def test_it_can_be_built_without_memory(architecture, config):
    """All parameters and buffers are then on the meta device, which has shapes only."""
    with torch.device("meta"):
        model = build(named(config, architecture), side_of(SOURCE), side_of(TARGET))
    assert all(tensor.is_meta for tensor in (*model.parameters(), *model.buffers()))


@pytest.mark.parametrize("cross_query", ["sequential", "input"])
@torch.inference_mode()
def test_what_the_query_of_cross_attention_is(cross_query):
    """The layer's input, as the paper's published code does, or the result of self-attention."""
    model: Any = make("transformer", replace(PAPER, architecture=f"transformer:cross_query={cross_query}"))
    source, target = examples(SAME)
    asked = []
    model.decoder.layers[0].cross.query.register_forward_pre_hook(lambda module, arguments: asked.append(*arguments))
    model(source, target)
    assert torch.equal(asked[0], model.decoder.embed(target)) == (cross_query == "input")


@torch.inference_mode()
def test_source_ends_stand_around_the_source():
    model: Any = make("transformer", replace(PAPER, architecture="transformer:source_ends=true"))
    source, target = examples(MIXED)
    plain: Any = make("transformer", PAPER)
    plain.load_state_dict(model.state_dict())
    framed = padded([np.array([END, *row[row != PAD], END]) for row in source.numpy()])
    assert torch.equal(model.read_source(source), framed)
    assert torch.equal(model(source, target), plain(framed, target))
    with pytest.raises(ValueError, match="63 tokens: source_ends=true leaves 62"):
        model(source[:, :1].repeat(1, 63), target)


@every_architecture
def test_dropout_drops_in_training_only(architecture):
    model = make(architecture, VARIANTS["dropout"])
    source, target = examples(SAME)
    assert torch.equal(model(source, target), model(source, target))
    model.train()
    assert not torch.equal(model(source, target), model(source, target))


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"architecture": "transfomer"}, "unknown architecture 'transfomer': did you mean 'transformer'"),
        ({"input_embedding": "feature"}, "unknown input embedding 'feature': did you mean 'features'"),
        ({"output_embedding": "features"}, "unknown output embedding 'features'.*known: lookup, ordered, decades"),
        ({"positions": ("grid", "gird")}, "unknown positions 'gird': did you mean 'grid'"),
        ({"architecture": "transformer:memory=5"}, "unknown option of architecture 'transformer' 'memory'"),
        ({"architecture": "transformer:cross_query=both"}, "unknown cross_query of a transformer 'both'"),
        (
            {"architecture": "transformer:loop_gate=lstm", "encoder_loops": 2},
            "unknown loop_gate .*'lstm'.*none, copy, act",
        ),
        (
            {"architecture": "transformer:product_norm=row", "products": 1},
            "unknown product_norm of a transformer 'row'",
        ),
        ({"architecture": "lstm:embedding_dim=-1"}, "embedding_dim -1"),
        ({"architecture": "gru:memory=1"}, "memory 1"),
        # Without effect.
        ({"architecture": "transformer:loop_gate=copy"}, "loop_gate=copy has no effect without encoder_loops"),
        ({"architecture": "transformer:product_norm=token"}, "product_norm=token has no effect without products"),
        *(
            (
                {"architecture": "transformer:source_ends=true", name: value},
                "source_ends=true: the encoder needs learned",
            )
            for name, value in {"positions": ("grid",), "relations": "learned", "products": 3}.items()
        ),
        *(
            ({"architecture": architecture, name: value}, f"{name} .* has no effect in a recurrent network")
            for architecture in ("lstm", "gru:memory=9")
            for name, value in {
                "products": 4,
                "relations": "learned",
                "encoder_loops": 2,
                "decoder_loops": 2,
                "ffn_factor": 2,
                "heads": (4,),
            }.items()
        ),
    ],
)
def test_unknown_names_and_fields_without_effect_are_refused(fields, complaint):
    with pytest.raises(ValueError, match=complaint):
        build(replace(PAPER, **fields), side_of(SOURCE), side_of(TARGET))
