"""LSTM and GRU: torch's cells by hand, what passes from the encoder to the decoder, and sizes."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from learnalg.config import ModelConfig
from learnalg.models import Side, build, count_parameters
from learnalg.models.embeddings import POSITIONS
from learnalg.training.flops import count_flops

CONFIG = ModelConfig(encoder_layers=2, decoder_layers=2, dim_model=(8,), max_positions=32)
SOURCE, TARGET = Side(20), Side(15)
PAD, END = SOURCE.pad, 0
GATES = {"lstm": 4, "gru": 3}
NUM_STATES = {"lstm": 2, "gru": 1}

every_kind = pytest.mark.parametrize("kind", GATES)


def make(kind: str, memory: int = 0, **changes: Any) -> Any:
    torch.manual_seed(0)
    architecture = f"{kind}:embedding_dim=6,memory={memory}"
    return build(replace(CONFIG, architecture=architecture, **changes), SOURCE, TARGET).eval()


def read_by_hand(kind: str, layers: nn.Module, tokens_LE: Tensor, states: list[tuple[Tensor, ...]]) -> Tensor:
    """One sequence, cell by cell; `states`, of each layer, is updated. The top layer's hidden states (L, D)."""
    cell_class = nn.LSTMCell if kind == "lstm" else nn.GRUCell
    cells = []
    for k in range(len(states)):
        weights = {
            name.removesuffix(f"_l{k}"): value for name, value in layers.state_dict().items() if name.endswith(f"_l{k}")
        }
        cells.append(cell_class(weights["weight_ih"].shape[1], weights["weight_hh"].shape[1]))
        cells[-1].load_state_dict(weights)
    top = []
    for token_E in tokens_LE:
        x = token_E
        for k, cell in enumerate(cells):
            new = cell(x, states[k] if kind == "lstm" else states[k][0])
            states[k] = new if kind == "lstm" else (new,)
            x = states[k][0]
        top.append(x)
    return torch.stack(top)


@every_kind
@torch.inference_mode()
def test_the_decoder_goes_on_from_the_encoders_state_after_the_last_token(kind):
    model = make(kind)
    source = torch.tensor([[3, 4, 5, 6, PAD, PAD], [7, 8, 9, 10, 11, 12]])
    target = torch.tensor([[END, 3, 4], [END, 5, 6]])
    logits = model(source, target)
    for row, length in enumerate((4, 6)):
        states = [(torch.zeros(8),) * NUM_STATES[kind] for _ in range(2)]
        read_by_hand(kind, model.encoder.layers, model.encoder.embed(source[row, None, :length])[0], states)
        hidden = read_by_hand(kind, model.decoder.layers, model.decoder.embed(target[row, None])[0], states)
        expected = model.decoder.out(hidden) @ model.decoder.embed.words.weight.T
        torch.testing.assert_close(logits[row], expected)


@every_kind
@pytest.mark.parametrize(
    ("encoder_layers", "decoder_layers", "expected"),
    [(2, 2, [0, 1]), (6, 1, [5]), (4, 2, [2, 3]), (1, 3, [0, 0, 0]), (2, 4, [0, 0, 0, 1])],
)
def test_layers_are_matched_from_the_top(kind, encoder_layers, decoder_layers, expected):
    model = make(kind, encoder_layers=encoder_layers, decoder_layers=decoder_layers)
    numbered_NBD = torch.arange(encoder_layers)[:, None, None].expand(-1, 2, 8)
    started = model.decoder.start((numbered_NBD,) * NUM_STATES[kind])
    assert [state_NBD[:, 0, 0].tolist() for state_NBD in started] == [expected] * NUM_STATES[kind]


@every_kind
def test_states_of_other_dimensions_go_through_a_linear_map(kind):
    model = make(kind, dim_model=(16, 8))
    states = tuple(torch.randn(2, 3, 16) for _ in range(NUM_STATES[kind]))
    for bridge, before, after in zip(model.decoder.bridges, states, model.decoder.start(states), strict=True):
        torch.testing.assert_close(after, before @ bridge.weight.T + bridge.bias)


@every_kind
@pytest.mark.parametrize("positions", ["none", "learned", "grid"])
@torch.inference_mode()
def test_positions_are_the_configs_and_a_step_knows_its_place(kind, positions):
    model = make(kind, positions=(positions,))
    assert [type(side.embed.positions) for side in (model.encoder, model.decoder)] == [POSITIONS[positions]] * 2
    if positions == "grid":
        assert (model.encoder.embed.positions.grid.shift, model.decoder.embed.positions.grid.shift) == (0, 1)
    generator = torch.Generator().manual_seed(0)
    source = torch.randint(1, SOURCE.vocab_size, (3, 7), generator=generator)
    target = torch.randint(1, TARGET.vocab_size, (3, 5), generator=generator)
    state = model.begin(source, 5)
    stepped = torch.stack([model.step(tokens, state) for tokens in target.T], dim=1)
    torch.testing.assert_close(stepped, model(source, target, True))


@every_kind
@torch.inference_mode()
def test_units_begin_with_memories_of_all_lengths_up_to_the_longest(kind):
    plain, model = (make(kind, memory, dim_model=(400,)) for memory in (0, 100))
    for layer in range(2):
        before, after = (getattr(m.encoder.layers, f"bias_ih_l{layer}").unflatten(0, (-1, 400)) for m in (plain, model))
        spread = 400**-0.5  # torch's own start, uniform
        tokens = after[1].exp()  # a gate of sigmoid(log t) keeps t parts of t + 1
        assert 1 - 2 * spread < tokens.min() < 3 and 90 < tokens.max() < 99 * (1 + 2 * spread)
        assert abs(tokens.mean() - 50) < 6
        assert before[1].abs().max() <= spread
        if kind == "lstm":
            torch.testing.assert_close(after[0], -after[1], atol=2 * spread, rtol=0)
            assert after[2:].abs().max() <= spread
        else:
            assert torch.stack([after[0], after[2]]).abs().max() <= spread


@every_kind
@pytest.mark.parametrize("num_layers", [1, 2])
def test_dropout_works_with_any_number_of_layers_and_without_a_warning(kind, num_layers):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = make(kind, encoder_layers=num_layers, decoder_layers=num_layers, dropout=0.5)
    assert model.encoder.layers.dropout == (0.5 if num_layers > 1 else 0.0)


@every_kind
@pytest.mark.parametrize(("layers", "hidden", "embedding"), [(2, 1024, 256), (4, 2048, 512), (8, 1024, 512)])
def test_parameters_of_the_papers_sizes(kind, layers, hidden, embedding):
    """The paper gives no counts for these; counted here from torch's documentation: weights and two biases a gate."""
    config = ModelConfig(
        architecture=f"{kind}:embedding_dim={embedding}",
        encoder_layers=layers,
        decoder_layers=layers,
        dim_model=(hidden,),
        positions=("none",),
    )
    side = GATES[kind] * hidden * ((embedding + hidden + 2) + (layers - 1) * (2 * hidden + 2))
    assert count_parameters(config, Side(1231), Side(29121)) == {
        "encoder embed": embedding * (1231 + 2),
        "encoder layers": side,
        "decoder embed": embedding * (29121 + 2),
        "decoder layers": side,
        "decoder out": embedding * (hidden + 1),
        "decoder bias": 29121,
    }


@every_kind
def test_its_flops_are_counted(kind):
    """Forward, by hand: a multiplication and an addition for each weight and token. Backward: about as much, twice."""
    model = make(kind)
    source, target = torch.full((2, 5), 7), torch.full((2, 3), 7)
    recurrent = GATES[kind] * 8 * ((6 + 8) + (8 + 8))
    forward = 2 * 2 * (5 * recurrent + 3 * (recurrent + 8 * 6 + 6 * 15))
    assert 2.8 * forward < count_flops(model, source, target) <= 3 * forward
    assert torch.backends.mkldnn.enabled


@every_kind
def test_hidden_matrices_are_those_of_the_recurrence(kind):
    model = make(kind)
    hidden = {id(parameter) for parameter in model.hidden_matrices()}
    assert {name for name, p in model.named_parameters() if id(p) in hidden} == {
        f"{side}.layers.weight_{what}_l{k}" for side in ("encoder", "decoder") for what in ("ih", "hh") for k in (0, 1)
    }
