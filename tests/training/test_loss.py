"""Cross-entropy against torch's, soft targets against their definition over the whole vocabulary."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from learnalg.models.outputs import NEVER, Part
from learnalg.tokens.tokenizer import PAD, Tokenizer
from learnalg.training.loss import SoftTargets
from learnalg.training.loss import sequence_loss as loss_of_parts

B, T = 3, 7
TOKENIZER = Tokenizer("positional:base=100,digits=2,exponents=-2:2")
V = TOKENIZER.vocab_size
ORDERED = torch.from_numpy(TOKENIZER.ordered)  # the mantissas 10 to 99; all others stand alone
FIRST, STOP = ORDERED[(ORDERED[:, 1] - ORDERED[:, 0]).argmax()].tolist()


def sequence_loss(logits: Tensor, targets: Tensor, pad: int, soft: SoftTargets | None) -> Tensor:
    return loss_of_parts([Part(slice(0, targets.shape[1]), 0, logits)], targets, pad, soft)


def batch(dtype: torch.dtype = torch.float32) -> tuple[Tensor, Tensor]:
    """Logits, and targets of every kind: mantissas at and near both ends of their range, other tokens, padding."""
    generator = torch.Generator().manual_seed(0)
    logits = 3 * torch.randn(B, T, V, generator=generator)
    targets = torch.randint(2, V, (B, T), generator=generator)
    targets[0] = torch.tensor([FIRST, FIRST + 1, STOP - 1, STOP - 2, FIRST - 1, STOP, FIRST + 40])
    targets[1, 4:] = PAD
    targets[2, 1:] = PAD
    return logits.to(dtype).requires_grad_(), targets


def dense_targets(targets: Tensor, width: float) -> Tensor:
    """(N, V): the bell over the tokens of the target's range, cut at three widths; zero in rows of padding."""
    dense = torch.zeros(targets.numel(), V)
    for n, target in enumerate(targets.flatten().tolist()):
        if target == PAD:
            continue
        start, stop = ORDERED[target].tolist()
        for token in range(max(start, target - round(3 * width)), min(stop, target + round(3 * width) + 1)):
            dense[n, token] = math.exp(-(((token - target) / width) ** 2) / 2)
        dense[n] /= dense[n].sum()
    return dense


def dense_loss(logits: Tensor, targets: Tensor, width: float) -> Tensor:
    return -(dense_targets(targets, width) * logits.flatten(0, 1).float().log_softmax(1)).sum()


def value_and_gradient(loss: Tensor, logits: Tensor) -> tuple[Tensor, Tensor]:
    (gradient,) = torch.autograd.grad(loss, logits)
    return loss.detach(), gradient


def test_the_vocabulary_has_one_ordered_range():
    assert [TOKENIZER.tokens[k] for k in (FIRST - 1, FIRST, STOP - 1, STOP)] == ["0", "10", "99", "E-2"]


def test_without_soft_targets_it_is_cross_entropy_but_for_padding():
    logits, targets = batch()
    real = targets != PAD
    expected = F.cross_entropy(logits[real], targets[real], reduction="sum")
    torch.testing.assert_close(
        value_and_gradient(sequence_loss(logits, targets, PAD, None), logits), value_and_gradient(expected, logits)
    )


@pytest.mark.parametrize("soft", [None, SoftTargets(ORDERED, 3.0)], ids=["hard", "soft"])
def test_padding_counts_for_nothing(soft):
    logits, targets = batch()
    loss, gradient = value_and_gradient(sequence_loss(logits, targets, PAD, soft), logits)
    assert (gradient[targets == PAD] == 0).all()
    assert (gradient[targets != PAD] != 0).any(-1).all()
    changed = torch.where((targets == PAD)[..., None], 7.0 + logits.roll(1, -1), logits)
    torch.testing.assert_close(sequence_loss(changed, targets, PAD, soft), loss)
    assert sequence_loss(logits, torch.full_like(targets, PAD), PAD, soft) == 0


@pytest.mark.parametrize("width", [0.1, 0.5, 1.0, 3.0, 40.0])
def test_weights_sum_to_one_and_stay_in_range(width):
    targets = torch.arange(V)
    tokens, weights = SoftTargets(ORDERED, width)(targets)
    torch.testing.assert_close(weights.sum(1), torch.ones(V))
    assert (weights >= 0).all()
    assert ((tokens >= ORDERED[:, :1]) & (tokens < ORDERED[:, 1:])).all()
    right = (weights * (tokens == targets[:, None])).sum(1)
    assert (right[:, None] >= weights).all()


@pytest.mark.parametrize("width", [1.0, 3.0])
def test_words_without_order_stay_hard(width):
    alone = torch.tensor([k for k in range(V) if not FIRST <= k < STOP])
    tokens, weights = SoftTargets(ORDERED, width)(alone)
    assert (tokens == alone[:, None]).all()
    assert ((weights == 0) | (weights == 1)).all()


@pytest.mark.parametrize("width", [0.5, 1.0, 3.0, 5.5])
def test_the_bell_has_its_width(width):
    middle = (FIRST + STOP) // 2
    tokens, weights = SoftTargets(ORDERED, width)(torch.tensor([middle]))
    distance = (tokens[0] - middle).double()
    assert distance.abs().max() == round(3 * width)
    torch.testing.assert_close(weights, weights.flip(1))
    right = weights[0, distance == 0]
    torch.testing.assert_close((weights[0] / right).double(), torch.exp(-0.5 * (distance / width) ** 2))
    if width >= 1:  # a finer bell is not a gaussian any more
        deviation = (weights[0] * distance**2).sum().sqrt()
        assert 0.97 * width < deviation < width


def test_the_bell_is_cut_at_the_end_of_the_range():
    tokens, weights = SoftTargets(ORDERED, 1.0)(torch.tensor([FIRST]))
    bell = torch.exp(-0.5 * torch.arange(4.0) ** 2)
    by_word = torch.zeros(V).index_add(0, tokens[0], weights[0])
    torch.testing.assert_close(by_word[FIRST : FIRST + 4], bell / bell.sum())
    assert by_word[FIRST - 1] == 0


@pytest.mark.parametrize("width", [0.5, 1.0, 3.0, 40.0])
def test_soft_loss_and_gradient_are_those_of_the_dense_definition(width):
    logits, targets = batch()
    ours = value_and_gradient(sequence_loss(logits, targets, PAD, SoftTargets(ORDERED, width)), logits)
    torch.testing.assert_close(ours, value_and_gradient(dense_loss(logits, targets, width), logits))


def test_the_gradient_follows_what_comes_behind_the_loss():
    logits, targets = batch()
    soft = SoftTargets(ORDERED, 3.0)
    _, whole = value_and_gradient(sequence_loss(logits, targets, PAD, soft), logits)
    _, mean = value_and_gradient(sequence_loss(logits, targets, PAD, soft) / 16, logits)
    torch.testing.assert_close(mean, whole / 16)


def test_the_gradient_by_finite_differences():
    logits, targets = batch()
    _, gradient = value_and_gradient(sequence_loss(logits, targets, PAD, SoftTargets(ORDERED, 3.0)), logits)
    direction = torch.randn(logits.shape, generator=torch.Generator().manual_seed(1))
    step = 1e-2
    ahead, behind = (
        sequence_loss(logits + sign * step * direction, targets, PAD, SoftTargets(ORDERED, 3.0)) for sign in (1, -1)
    )
    torch.testing.assert_close((ahead - behind) / (2 * step), (gradient * direction).sum(), rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize("soft", [None, SoftTargets(ORDERED, 3.0)], ids=["hard", "soft"])
def test_bf16_logits_give_a_loss_in_fp32_and_a_gradient_in_bf16(soft):
    logits, targets = batch(torch.bfloat16)
    exact = logits.detach().float().requires_grad_()
    loss, gradient = value_and_gradient(sequence_loss(logits, targets, PAD, soft), logits)
    expected, expected_gradient = value_and_gradient(sequence_loss(exact, targets, PAD, soft), exact)
    assert (loss.dtype, gradient.dtype) == (torch.float32, torch.bfloat16)
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(gradient.float(), expected_gradient, rtol=1e-2, atol=1e-4)


@pytest.mark.parametrize(("width", "tolerance"), [(0.3, 0.05), (0.2, 1e-3), (0.1, 1e-6), (0.01, 1e-6)])
def test_a_narrow_bell_is_the_hard_loss(width, tolerance):
    logits, targets = batch()
    soft = value_and_gradient(sequence_loss(logits, targets, PAD, SoftTargets(ORDERED, width)), logits)
    hard = value_and_gradient(sequence_loss(logits, targets, PAD, None), logits)
    torch.testing.assert_close(soft, hard, rtol=tolerance, atol=tolerance)
    wide = value_and_gradient(sequence_loss(logits, targets, PAD, SoftTargets(ORDERED, 3.0)), logits)
    assert abs(wide[0] - hard[0]) > 0.1


@pytest.mark.parametrize("soft", [None, SoftTargets(ORDERED, 3.0)], ids=["hard", "soft"])
def test_the_loss_of_parts_is_that_of_the_whole(soft):
    """Every second token from a part of the vocabulary: the others are impossible there."""
    logits, targets = batch()
    targets[:, ::2] = targets[:, ::2].where(targets[:, ::2] == PAD, FIRST + torch.arange(4))
    parts = [Part(slice(0, T, 2), FIRST, logits[:, ::2, FIRST:STOP]), Part(slice(1, T, 2), 0, logits[:, 1::2])]
    whole = torch.full_like(logits, NEVER)
    for where, first, part in parts:
        whole[:, where, first : first + part.shape[-1]] = part
    ours = value_and_gradient(loss_of_parts(parts, targets, PAD, soft), logits)
    torch.testing.assert_close(ours, value_and_gradient(sequence_loss(whole, targets, PAD, soft), logits))


def test_a_near_miss_costs_less_than_a_far_one():
    target = FIRST + 40
    soft = SoftTargets(ORDERED, 3.0)

    def loss(predicted: int) -> float:
        logits = torch.zeros(1, 1, V)
        logits[..., predicted] = 5.0
        return float(sequence_loss(logits, torch.tensor([[target]]), PAD, soft))

    assert loss(target) < loss(target + 1) < loss(target + 4) < loss(target + 30)
