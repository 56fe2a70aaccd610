"""From a model to sequences: greedy decoding and beam search, cached and batched, free or constrained to the grammar.

The grammar of an output is simple: a task token in joint training, two dimensions, as many coefficients as these say,
an end. Constrained to it, every prediction is a well-formed matrix; `task` and `shape` constrain these too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from learnalg.models import Seq2Seq
from learnalg.models.cpu import fast_products
from learnalg.models.ready import Ready, Writing, ready_of
from learnalg.tokens.tokenizer import END, FIRST_DIM, FIRST_NUMBER, FIRST_TASK, MAX_DIM, PAD, Tokenizer


class Grammar:
    """Which tokens may follow. Rows of `kinds_KV`: task, dimension, one for each place of a coefficient, end."""

    def __init__(
        self, tokenizer: Tokenizer, max_length: int, device: torch.device | str = "cpu", task: int | None = None
    ) -> None:
        self.header, self.width, self.max_length = tokenizer.header, tokenizer.width, max_length
        if max_length < tokenizer.length((1, 1)) + 1:
            raise ValueError(f"max_length {max_length}: not even a 1x1 matrix fits")
        first, last = (0, len(tokenizer.task_names) - 1) if task is None else (task, task)
        ranges = [(FIRST_TASK + first, FIRST_TASK + last + 1), (FIRST_DIM, FIRST_DIM + MAX_DIM)]
        ranges += [(FIRST_NUMBER + start, FIRST_NUMBER + stop) for start, stop in tokenizer.encoding.slots]
        ranges += [(END, END + 1)]
        self.slots = tuple(ranges[2:-1])  # ids of tokens at each place of a coefficient
        self.tasks = range(first, last + 1) if tokenizer.task_names else None  # that a header may begin with
        self.kinds_KV = torch.zeros(len(ranges), tokenizer.vocab_size, dtype=torch.bool, device=device)
        for kind, (start, stop) in enumerate(ranges):
            self.kinds_KV[kind, start:stop] = True
        self.dims_D = torch.arange(1, MAX_DIM + 1, device=device)

    def header_of(self, shape: tuple[int, int] | None) -> tuple[int, ...] | None:
        """The tokens that a matrix of this shape begins with; None if the task or the shape is open, or too long."""
        if shape is None or (self.tasks is not None and len(self.tasks) > 1):
            return None
        if self.header + shape[0] * shape[1] * self.width + 1 > self.max_length:
            return None
        task = () if self.tasks is None else (FIRST_TASK + self.tasks[0],)
        return *task, *(FIRST_DIM + dim - 1 for dim in shape)

    def allowed(self, prefix_BT: Tensor, shape: tuple[int, int] | None) -> Tensor:
        """(B, V): the tokens that may follow each row's prefix."""
        at = prefix_BT.shape[1]
        if at < self.header - 2:
            return self.kinds_KV[0].expand(len(prefix_BT), -1)
        if at < self.header:
            return self._allowed_dims(prefix_BT, shape)
        dims_B2 = (prefix_BT[:, self.header - 2 : self.header] - FIRST_DIM + 1).clamp(1, MAX_DIM)
        end_B = self.header + dims_B2.prod(1) * self.width
        place = 2 + (at - self.header) % self.width
        kind_B = torch.where(end_B <= at, len(self.kinds_KV) - 1, place)
        return self.kinds_KV[kind_B]

    def _allowed_dims(self, prefix_BT: Tensor, shape: tuple[int, int] | None) -> Tensor:
        """Dimensions whose matrix fits into the longest sequence."""
        at, num = prefix_BT.shape[1], len(prefix_BT)
        allowed_BV = self.kinds_KV[1].expand(num, -1).clone()
        if shape is not None:
            fits_BD = (self.dims_D == shape[at - self.header + 2]).expand(num, -1)
        else:
            rows_B = torch.ones(num, dtype=torch.long, device=prefix_BT.device)
            if at == self.header - 1:
                rows_B = (prefix_BT[:, -1] - FIRST_DIM + 1).clamp(1, MAX_DIM)
            room = self.max_length - self.header - 1
            fits_BD = rows_B[:, None] * self.dims_D * self.width <= room
        allowed_BV[:, FIRST_DIM : FIRST_DIM + MAX_DIM] = fits_BD
        return allowed_BV


class Written(NamedTuple):
    """What a decoding has written, and the log probability of each token among those that were allowed there."""

    tokens_BT: Tensor
    log_BT: Tensor  # zero for padding, and where it was not asked for
    free_B: Tensor  # whether the model would have written the same without a grammar


@torch.inference_mode()
def greedy(
    model: Any,
    source_BS: Tensor,
    max_length: int,
    grammar: Grammar | None = None,
    shape: tuple[int, int] | None = None,
    has_log: bool = True,
) -> Written:
    """The likeliest token each time; rows end with END and are padded.

    A transformer writes in its fast way (models/ready.py) where all sources have one size, and all answers too. Logits
    are then those of its steps up to rounding.
    """
    ready = ready_of(model)
    header = None if ready is None else ready.header_of(source_BS)
    first = None if grammar is None else grammar.header_of(shape)
    written = None
    if ready is not None and header is not None and (grammar is None or first is not None):
        with fast_products(source_BS.numel()):
            writing = ready.begin(source_BS, header, max_length)
        with fast_products(len(source_BS)):
            if grammar is None:
                written = write_freely(ready, writing, len(source_BS), has_log)
            elif shape is not None and first is not None:
                written = write_matrix(ready, writing, len(source_BS), first, grammar.slots, shape[0] * shape[1])
    return greedy_by_steps(model, source_BS, max_length, grammar, shape) if written is None else written


def write_matrix(
    ready: Ready, writing: Writing, num: int, header: tuple[int, ...], slots: tuple[tuple[int, int], ...], size: int
) -> Written:
    """A matrix of so many coefficients. Its header is read at once; the end needs no choice."""
    first, end = len(header), len(header) + size * len(slots)
    start_NB = torch.tensor((END, *header), device=ready.device)[:, None].expand(-1, num)  # the start token before it
    ready.set_header(writing, header)
    hidden_NBD = ready.read(start_NB, writing)
    tokens, shares = list(start_NB[1:]), [torch.ones(num, device=ready.device)] * first
    chosen, likeliest = [], []  # logits
    for at in range(first):
        logits_BK, low = ready.logits(hidden_NBD[at], at)
        chosen.append(logits_BK[:, header[at] - low])
        likeliest.append(logits_BK.amax(1))
    for at in range(first, end):
        start, stop = slots[(at - first) % len(slots)]
        logits_BK, low = ready.logits(hidden_NBD[-1], at)
        slot_BK = logits_BK[:, start - low : stop - low]
        best_B, found_B = slot_BK.max(1)
        shares.append(slot_BK.softmax(1).amax(1))
        tokens.append(found_B.add_(start))
        chosen.append(best_B)
        likeliest.append(logits_BK.amax(1))
        hidden_NBD = ready.read(found_B[None], writing)
    logits_BK, low = ready.logits(hidden_NBD[-1], end)
    is_free_B = (torch.stack([*chosen, logits_BK[:, END - low]]) >= torch.stack([*likeliest, logits_BK.amax(1)])).all(0)
    tokens.append(torch.full_like(tokens[0], END))
    shares.append(torch.ones(num, device=ready.device))
    return Written(torch.stack(tokens, 1), torch.stack(shares, 1).log_(), is_free_B)


def write_freely(ready: Ready, writing: Writing, num: int, has_log: bool) -> Written | None:
    """Any tokens; None if the examples begin differently."""
    tokens_TB = torch.full((writing.max_length, num), PAD, device=ready.device)
    log_TB = torch.zeros((writing.max_length, num), device=ready.device)
    done_B = torch.zeros(num, dtype=torch.bool, device=ready.device)
    read_B = torch.full_like(tokens_TB[0], END)
    for at in range(writing.max_length):
        if at == ready.header:
            header_TB = tokens_TB[:at]
            if num > 1 and not bool((header_TB == header_TB[:, :1]).all()):
                return None
            ready.set_header(writing, tuple(header_TB[:, 0].tolist()))
        logits_BK, low = ready.logits(ready.read(read_B[None], writing)[0], at)
        best_B, found_B = logits_BK.max(1)
        if has_log:
            log_TB[at] = (best_B - logits_BK.logsumexp(1)).masked_fill(done_B, 0.0)
        read_B = tokens_TB[at] = torch.where(done_B, PAD, found_B + low)
        done_B |= read_B == END
        if bool(done_B.all()):
            break
    return Written(tokens_TB[: at + 1].t(), log_TB[: at + 1].t(), torch.ones_like(done_B))


@torch.inference_mode()
def greedy_by_steps(
    model: Seq2Seq,
    source_BS: Tensor,
    max_length: int,
    grammar: Grammar | None = None,
    shape: tuple[int, int] | None = None,
) -> Written:
    """The same for any model, for sources and answers of several sizes, and for what a grammar leaves open."""
    state = model.begin(source_BS, max_length)
    tokens_B = torch.full((len(source_BS),), END, device=source_BS.device)
    done_B = torch.zeros_like(tokens_B, dtype=torch.bool)
    written_BT = tokens_B.new_empty((len(tokens_B), 0))
    free_B = torch.ones_like(done_B)
    logs = []
    for _ in range(max_length):
        logits_BV = model.step(tokens_B, state).float()
        if grammar is not None:
            likeliest_B = logits_BV.argmax(1)
            logits_BV = logits_BV.masked_fill(~grammar.allowed(written_BT, shape), -torch.inf)
        best_B, tokens_B = logits_BV.max(1)
        if grammar is not None:
            free_B &= done_B | (tokens_B == likeliest_B)
        logs.append((best_B - logits_BV.logsumexp(1)).masked_fill(done_B, 0.0))
        tokens_B = torch.where(done_B, PAD, tokens_B)
        written_BT = torch.cat([written_BT, tokens_B[:, None]], dim=1)
        done_B |= tokens_B == END
        if done_B.all():
            break
    return Written(written_BT, torch.stack(logs, dim=1), free_B)


@torch.inference_mode()
def beam(
    model: Seq2Seq,
    source_BS: Tensor,
    max_length: int,
    width: int,
    grammar: Grammar | None = None,
    shape: tuple[int, int] | None = None,
) -> Tensor:
    """(B, T): the likeliest of the `width` sequences that are kept at each step. Rows B*W are example-major."""
    B, W = len(source_BS), width
    state = model.begin(source_BS.repeat_interleave(W, dim=0), max_length)
    tokens_R = torch.full((B * W,), END, device=source_BS.device)
    done_R = torch.zeros_like(tokens_R, dtype=torch.bool)
    written_RT = tokens_R.new_empty((B * W, 0))
    # Only the first of each example's beams counts at first: they are all the same.
    scores_BW = torch.full((B, W), -torch.inf, device=source_BS.device)
    scores_BW[:, 0] = 0.0
    first_B1 = torch.arange(B, device=source_BS.device)[:, None] * W
    for _ in range(max_length):
        logits_RV = model.step(tokens_R, state).float()
        if grammar is not None:
            logits_RV = logits_RV.masked_fill(~grammar.allowed(written_RT, shape), -torch.inf)
        log_RV = logits_RV.log_softmax(1)
        log_RV[scores_BW.flatten() == -torch.inf] = -torch.inf  # a beam without a sequence stays dead
        log_RV[done_R] = -torch.inf
        log_RV[done_R, PAD] = 0.0  # a finished sequence stays as it is
        V = log_RV.shape[1]
        scores_BW, best_BW = (scores_BW[:, :, None] + log_RV.view(B, W, V)).flatten(1).topk(W, dim=1)
        parents_R = (first_B1 + best_BW // V).flatten()
        tokens_R = (best_BW % V).flatten()
        written_RT = torch.cat([written_RT[parents_R], tokens_R[:, None]], dim=1)
        done_R = done_R[parents_R] | (tokens_R == END)
        if done_R.all():
            break
        _reorder(state, parents_R)
    return written_RT.view(B, W, -1)[:, 0]


def _reorder(state: Any, rows_R: Tensor) -> Any:
    """Takes those rows of every tensor in a nest of dicts and lists, in place of the old ones."""
    if isinstance(state, Tensor):
        return state[rows_R]
    if isinstance(state, dict):
        for key, value in state.items():
            state[key] = _reorder(value, rows_R)
    elif isinstance(state, list):
        state[:] = [_reorder(value, rows_R) for value in state]
    return state
