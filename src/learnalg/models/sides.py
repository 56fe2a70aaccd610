"""What a model knows of a problem, and no more: the one place where models meet tasks and tokenizers.

>>> model = build(config.model, *sides(Problem(config.data)))
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from torch import Tensor, nn

from learnalg.models.seq2seq import Side
from learnalg.problem import Problem
from learnalg.problems.dims import MAX_DIM
from learnalg.tokens.tokenizer import END, FIRST_DIM, FIRST_NUMBER, FIRST_TASK, PAD, Tokenizer


def side_of(tokenizer: Tokenizer) -> Side:
    size, header, width = tokenizer.vocab_size, tokenizer.header, tokenizer.width
    slots = tuple((FIRST_NUMBER + start, FIRST_NUMBER + stop) for start, stop in tokenizer.encoding.slots)
    values, ordered = tokenizer.token_values, tokenizer.ordered
    return Side(size, header, width, FIRST_TASK, FIRST_DIM, PAD, values, ordered, end=END, slots=slots)


def sides(problem: Problem) -> tuple[Side, Side]:
    """The sequences that a model reads and writes."""
    source, target = problem.tokenizers
    columns = np.stack([task.operand_columns(MAX_DIM) for _, task in problem.tasks])
    has_several = bool(columns[..., 0].any())
    read = replace(side_of(source), operands=columns if has_several else None, triangle=problem.config.triangle)
    return read, side_of(target)


def decoder_input(target_BT: Tensor) -> Tensor:
    """What the decoder reads while it predicts `target`: a start token, then the target without its last token."""
    return nn.functional.pad(target_BT[:, :-1], (1, 0), value=END)
