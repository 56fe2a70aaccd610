"""Attention to look at: the weights of each layer, loop and head in one forward pass.

    >>> with watch_attention(model) as seen:
    ...     model(source_BS, decoder_input(target_BT))
    >>> seen[0].side, seen[0].layer, seen[0].loop, seen[0].weights_BHQL.shape
    ('encoder', 1, 1, torch.Size([1, 8, 17, 17]))

Training computes nothing of this. Hooks read what each attention was given, and compute the weights again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from learnalg.models.layers import Attention


@dataclass(frozen=True)
class Seen:
    """One attention in one loop; layers and loops count from 1."""

    side: str  # encoder or decoder
    is_cross: bool  # from the decoder to the encoder
    layer: int
    loop: int
    weights_BHQL: Tensor


@contextmanager
def watch_attention(model: nn.Module) -> Iterator[list[Seen]]:
    """In the order of computation; nothing for architectures without attention. One thread at a time: hooks belong to
    the model."""
    seen: list[Seen] = []
    times: Counter[str] = Counter()

    def watch(name: str) -> Callable[..., None]:
        side, *_, kind = name.split(".")
        layer = 1 + next(int(part) for part in reversed(name.split(".")) if part.isdigit())

        def hook(module: Any, given: tuple[Any, ...], _: Tensor) -> None:
            x_BQD, keys_BHLK, _values, bias = given
            times[name] += 1
            seen.append(Seen(side, kind == "cross", layer, times[name], module.weights(x_BQD, keys_BHLK, bias)))

        return hook

    hooks = [
        module.register_forward_hook(watch(name))
        for name, module in model.named_modules()
        if isinstance(module, Attention)
    ]
    try:
        yield seen
    finally:
        for hook in hooks:
            hook.remove()
