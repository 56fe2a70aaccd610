"""Greedy and beam against references that know no cache, no batch and no grammar but the list of all sequences."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from learnalg.config import ModelConfig
from learnalg.evaluation.decode import Grammar, beam, greedy
from learnalg.models import build, side_of
from learnalg.tokens import ENCODINGS
from learnalg.tokens.tokenizer import END, FIRST_DIM, FIRST_NUMBER, FIRST_TASK, OK, PAD, REASONS, Tokenizer

TINY = "floating:digits=1,exponents=0:0"  # 19 numbers, a token each
THREE = "positional:base=10,digits=1,exponents=-1:1"  # sign, digit, exponent
TASKS = ("transpose", "add")
Following = Callable[[tuple[int, ...]], list[int] | None]
GENERAL_FORMS = (TINY, THREE, "positional:base=2,digits=2,exponents=-3:3", "balanced:digits=1")

with_and_without_tasks = pytest.mark.parametrize("tasks", [(), TASKS], ids=["alone", "joint"])
get_tokenizer = cache(Tokenizer)  # the tokens of FP15 are many


@cache
def make(encoding: str, tasks: tuple[str, ...] = (), seed: int = 9, positions: str = "learned") -> Any:
    """Untrained; shaken, so that it does not write one token for ever, whatever the source."""
    torch.manual_seed(seed)
    size = {"encoder_layers": 1, "decoder_layers": 1, "dim_model": (16,), "heads": (2,), "max_positions": 64}
    config = ModelConfig(positions=(positions,), **size)
    side = side_of(get_tokenizer(encoding, tasks))
    model = build(config, side, side).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.5)
    return model


def sources(encoding: str, tasks: tuple[str, ...] = (), num: int = 6) -> Tensor:
    """Matrices of several shapes, padded."""
    tokenizer = get_tokenizer(encoding, tasks)
    rng = np.random.default_rng(0)
    ids = np.full((num, tokenizer.length((2, 2))), PAD)
    for k in range(num):
        shape = ((2, 2), (1, 2), (2, 1), (1, 1))[k % 4]
        row = tokenizer.encode(rng.uniform(-9, 9, (1, *shape)), task=k % 2 if tasks else 0)[0]
        ids[k, : len(row)] = row
    return torch.from_numpy(ids)


def log_softmax(model: Any, source: Tensor, written: tuple[int, ...], allowed: list[int] | None = None) -> Tensor:
    """(V,): of the token behind `written`, over the allowed tokens only."""
    target = torch.tensor([[END, *written]])
    with torch.inference_mode():
        logits = model(source[None], target)[0, -1]
    if allowed is not None:
        logits = torch.full_like(logits, -torch.inf).index_put((torch.tensor(allowed),), logits[allowed])
    return logits.log_softmax(0)


def all_sequences(tokenizer: Tokenizer, max_length: int, shape: tuple[int, int] | None) -> list[tuple[int, ...]]:
    """Every well-formed sequence up to that length, end included."""
    found = []
    room = (max_length - 1 - tokenizer.header) // tokenizer.width
    slots = [range(FIRST_NUMBER + start, FIRST_NUMBER + stop) for start, stop in tokenizer.encoding.slots]
    tasks = product(range(FIRST_TASK, FIRST_TASK + len(tokenizer.task_names))) if tokenizer.task_names else [()]
    shapes = [(m, n) for m in range(1, room + 1) for n in range(1, room // m + 1)] if shape is None else [shape]
    for task, (m, n) in product(tasks, shapes):
        header = (*task, FIRST_DIM + m - 1, FIRST_DIM + n - 1)
        found += [(*header, *numbers, END) for numbers in product(*(slots * (m * n)))]
    return found


def continuations(sequences: list[tuple[int, ...]] | None) -> Following:
    """What may follow each beginning of these sequences; without a list, anything."""
    if sequences is None:
        return lambda written: None
    following: dict[tuple[int, ...], set[int]] = {}
    for sequence in sequences:
        for k, word in enumerate(sequence):
            following.setdefault(sequence[:k], set()).add(word)
    return lambda written: sorted(following[written])


def slow_beam(model: Any, source: Tensor, max_length: int, width: int, following: Following) -> tuple[int, ...]:
    """Beam search as one would tell it: extend each sequence by each token, keep the best few."""
    kept: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    for _ in range(max_length):
        extended = []
        for score, written in kept:
            if written[-1:] == (END,):
                extended.append((score, written))
                continue
            log_V = log_softmax(model, source, written, following(written))
            extended += [(score + log, (*written, k)) for k, log in enumerate(log_V.tolist()) if log > -np.inf]
        kept = sorted(extended, reverse=True)[:width]
    return kept[0][1]


def totals(
    model: Any, source: Tensor, sequences: list[tuple[int, ...]], following: Following
) -> dict[tuple[int, ...], float]:
    """Log-probability of each of the sequences, among what may follow."""
    longest = max(map(len, sequences))
    read = torch.tensor([[END, *sequence[:-1], *[PAD] * (longest - len(sequence))] for sequence in sequences])
    with torch.inference_mode():
        logits = model(source.expand(len(sequences), -1), read).numpy()
    total = dict.fromkeys(sequences, 0.0)
    for i, sequence in enumerate(sequences):
        for k, word in enumerate(sequence):
            allowed = logits[i, k, following(sequence[:k])]
            total[sequence] += logits[i, k, word] - np.logaddexp.reduce(allowed.astype(np.float64))
    return total


def trimmed(written: Tensor) -> list[tuple[int, ...]]:
    """Rows up to their end; what is behind it must be padding."""
    rows = []
    for row in written.tolist():
        length = row.index(END) + 1 if END in row else len(row)
        assert set(row[length:]) <= {PAD}
        rows.append(tuple(row[:length]))
    return rows


def decode(
    model: Any,
    source: Tensor,
    max_length: int,
    width: int,
    grammar: Grammar | None = None,
    shape: tuple[int, int] | None = None,
) -> Tensor:
    if width == 1:
        return greedy(model, source, max_length, grammar, shape).tokens_BT
    return beam(model, source, max_length, width, grammar, shape)


CASES = {
    # encoding, tasks, max_length, shape, with a grammar
    "free": (TINY, (), 6, None, False),
    "free-joint": (THREE, TASKS, 6, None, False),
    "tiny": (TINY, (), 5, None, True),
    "tiny-joint": (TINY, TASKS, 6, None, True),
    "tiny-shape": (TINY, (), 5, (2, 1), True),
    "three": (THREE, (), 6, None, True),
    "three-shape": (THREE, (), 9, (1, 1), True),
}
every_case = pytest.mark.parametrize(("encoding", "tasks", "max_length", "shape", "bound"), CASES.values(), ids=CASES)


@every_case
@pytest.mark.parametrize("width", [1, 2, 3, 7])
def test_beam_is_the_slow_beam(encoding, tasks, max_length, shape, bound, width):
    tokenizer, model, source = get_tokenizer(encoding, tasks), make(encoding, tasks), sources(encoding, tasks, num=2)
    following = continuations(all_sequences(tokenizer, max_length, shape) if bound else None)
    grammar = Grammar(tokenizer, max_length) if bound else None
    expected = [slow_beam(model, row, max_length, width, following) for row in source]
    assert trimmed(beam(model, source, max_length, width, grammar, shape)) == expected


def test_a_sequence_that_has_ended_keeps_its_score_while_others_go_on():
    """Of 1x1 and 1x2 matrices the first end one step before the others: waiting costs nothing."""
    tokenizer, source = get_tokenizer(TINY), sources(TINY, num=6)
    following = continuations(all_sequences(tokenizer, 5, None))
    lengths = set()
    for seed in range(4):
        model = make(TINY, seed=seed)
        expected = [slow_beam(model, row, 5, 4, following) for row in source]
        assert trimmed(beam(model, source, 5, 4, Grammar(tokenizer, 5))) == expected
        lengths |= set(map(len, expected))
    assert len(lengths) == 2


@every_case
def test_greedy_takes_the_likeliest_token_each_time(encoding, tasks, max_length, shape, bound):
    tokenizer, model, source = get_tokenizer(encoding, tasks), make(encoding, tasks), sources(encoding, tasks)
    following = continuations(all_sequences(tokenizer, max_length, shape) if bound else None)
    found = greedy(model, source, max_length, Grammar(tokenizer, max_length) if bound else None, shape)
    for row, written, logs in zip(source, trimmed(found.tokens_BT), found.log_BT, strict=True):
        for k, word in enumerate(written):
            log_V = log_softmax(model, row, written[:k], following(written[:k]))
            assert word == log_V.argmax()
            assert logs[k] == pytest.approx(float(log_V[word]), abs=1e-5)
        assert written[-1] == END or len(written) == max_length
        assert (logs[len(written) :] == 0).all()


@every_case
def test_a_beam_of_one_is_greedy(encoding, tasks, max_length, shape, bound):
    model, source = make(encoding, tasks), sources(encoding, tasks)
    grammar = Grammar(get_tokenizer(encoding, tasks), max_length) if bound else None
    alone = greedy(model, source, max_length, grammar, shape).tokens_BT
    assert torch.equal(beam(model, source, max_length, 1, grammar, shape), alone)


@pytest.mark.parametrize("seed", [9, 21])
@pytest.mark.parametrize(("encoding", "max_length", "shape"), [(TINY, 5, None), (TINY, 5, (1, 2)), (THREE, 6, (1, 1))])
def test_a_beam_as_wide_as_the_language_finds_its_likeliest_sequence(encoding, max_length, shape, seed):
    """Only such a beam is exhaustive. A narrower one may lose the best sequence early, and even end below greedy."""
    tokenizer, model, source = get_tokenizer(encoding), make(encoding, seed=seed), sources(encoding, num=2)
    sequences = all_sequences(tokenizer, max_length, shape)
    following = continuations(sequences)
    grammar = Grammar(tokenizer, max_length)
    found = trimmed(beam(model, source, max_length, len(sequences), grammar, shape))
    first = trimmed(greedy(model, source, max_length, grammar, shape).tokens_BT)
    for k, row in enumerate(source):
        total = totals(model, row, sequences, following)
        assert found[k] == max(total, key=total.__getitem__)
        assert total[found[k]] >= total[first[k]]


@every_case
@pytest.mark.parametrize("width", [1, 3])
def test_rows_of_a_batch_do_not_see_each_other(encoding, tasks, max_length, shape, bound, width):
    model, source = make(encoding, tasks), sources(encoding, tasks)
    grammar = Grammar(get_tokenizer(encoding, tasks), max_length) if bound else None

    def rows(part: Tensor) -> list[tuple[int, ...]]:
        return trimmed(decode(model, part, max_length, width, grammar, shape))

    together = rows(source)
    assert [rows(row[None])[0] for row in source] == together
    assert rows(source.flip(0)) == together[::-1]
    assert len(set(together)) > 1


def check_well_formed(tokenizer: Tokenizer, written: Tensor, max_length: int) -> np.ndarray:
    assert written.shape[1] <= max_length
    assert all(row[-1] == END for row in trimmed(written))
    decoded = tokenizer.decode(written.numpy())
    assert [REASONS[k] for k in decoded.reasons] == [REASONS[OK]] * len(written)
    return decoded.shapes


@with_and_without_tasks
@pytest.mark.parametrize("encoding", (*ENCODINGS, *GENERAL_FORMS))
@pytest.mark.parametrize("room", [1, 4], ids=lambda room: f"{room}-numbers")
@pytest.mark.parametrize("width", [1, 4], ids=["greedy", "beam"])
def test_bound_to_the_grammar_every_output_is_a_matrix(encoding, tasks, room, width):
    tokenizer, model, source = get_tokenizer(encoding, tasks), make(encoding, tasks), sources(encoding, tasks)
    for spare in (0, tokenizer.width - 1):
        max_length = tokenizer.header + room * tokenizer.width + 1 + spare
        grammar = Grammar(tokenizer, max_length)
        written = decode(model, source, max_length, width, grammar)
        assert (check_well_formed(tokenizer, written, max_length).prod(axis=1) <= room).all()


@pytest.mark.parametrize(("encoding", "shape"), [(TINY, (1, 1)), (TINY, (2, 1)), ("p1000", (5, 1))])
@pytest.mark.parametrize("width", [8, 32, 100])
def test_a_beam_wider_than_the_choice_of_dimensions_writes_matrices(encoding, shape, width):
    """Beams that have nothing to begin with stand for no sequence, and must not win."""
    tokenizer = get_tokenizer(encoding)
    max_length = tokenizer.length(shape) + 1
    written = beam(make(encoding), sources(encoding), max_length, width, Grammar(tokenizer, max_length))
    check_well_formed(tokenizer, written, max_length)


@pytest.mark.parametrize("width", [1, 3], ids=["greedy", "beam"])
def test_rows_of_a_batch_end_each_at_its_own_length(width):
    tokenizer = get_tokenizer(THREE)
    max_length = tokenizer.length((2, 2)) + 1
    written = decode(make(THREE), sources(THREE, num=12), max_length, width, Grammar(tokenizer, max_length))
    shapes = check_well_formed(tokenizer, written, max_length)
    assert [len(row) for row in trimmed(written)] == [tokenizer.length((m, n)) + 1 for m, n in shapes]
    assert len({len(row) for row in trimmed(written)}) > 1


@with_and_without_tasks
@pytest.mark.parametrize("width", [1, 3], ids=["greedy", "beam"])
@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (5, 1)])
@pytest.mark.parametrize("positions", ["learned", "grid"])
def test_the_shape_is_that_asked_for(tasks, width, shape, positions):
    tokenizer, source = get_tokenizer(THREE, tasks), sources(THREE, tasks)
    model = make(THREE, tasks, positions=positions)
    max_length = tokenizer.length(shape) + 1
    for longest in (max_length, max_length + 10):
        grammar = Grammar(tokenizer, longest)
        written = decode(model, source, longest, width, grammar, shape)
        assert written.shape[1] == max_length
        assert (check_well_formed(tokenizer, written, longest) == shape).all()


@with_and_without_tasks
@pytest.mark.parametrize("width", [1, 3], ids=["greedy", "beam"])
@pytest.mark.parametrize("max_length", [1, 2, 9])
def test_without_a_grammar_it_stops_at_the_longest_length(tasks, width, max_length):
    model, source = deepcopy(make(THREE, tasks)), sources(THREE, tasks)
    with torch.no_grad():
        model.decoder.bias[..., END] = -1e4  # it never ends by itself
    written = decode(model, source, max_length, width)
    assert written.shape == (len(source), max_length)
    assert (written != END).all()


@pytest.mark.parametrize("width", [1, 3], ids=["greedy", "beam"])
def test_it_stops_when_all_rows_have_ended(width):
    model, source = deepcopy(make(TINY)), sources(TINY)
    with torch.no_grad():
        model.decoder.bias[..., END] = 1e4
    written = decode(model, source, 9, width)
    assert (written[:, 0] == END).all()
    assert (written[:, 1:] == PAD).all()
    assert written.shape[1] == 1 if width == 1 else 2  # the second best of a beam begins with another word
