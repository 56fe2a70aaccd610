"""What the processes of a run do together, and what each does alone. Under torchrun each takes its rows of a batch.

    >>> own_part(batch)  # in one process: the batch itself
    >>> sum_up(np.array([loss, tokens]))  # of all processes, in each of them

All collectives are here. One fails where another process has ended; that is a LostProcessError, in one line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import Tensor

from learnalg.data import Batch, shard


class LostProcessError(ValueError):
    """Another process of this run has ended."""


def num_processes() -> int:
    return dist.get_world_size() if dist.is_initialized() else 1


def is_first() -> bool:
    return not dist.is_initialized() or dist.get_rank() == 0


def own_rows(num: int) -> tuple[int, int]:
    """This process's rows of so many, from the first to before the last; numbers of rows differ by at most one."""
    if not dist.is_initialized():
        return 0, num
    rank, world = dist.get_rank(), dist.get_world_size()
    return rank * num // world, (rank + 1) * num // world


def own_part(batch: Batch) -> Batch:
    return batch if num_processes() == 1 else shard(batch, *own_rows(len(batch)))


@contextmanager
def _together() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:  # gloo: "[pair.cc:537] Connection closed by peer. This is"; NCCL: its own words
        reason = re.sub(r"^\[\S+\] ", "", str(error).splitlines()[0]).partition(". ")[0]
        raise LostProcessError(f"another process of this run has ended, so this one ends ({reason})") from None


def sum_tensor(tensor: Tensor) -> Tensor:
    """In place: the sum over all processes."""
    if dist.is_initialized():
        with _together():
            dist.all_reduce(tensor)
    return tensor


def sum_up(values: NDArray[Any]) -> NDArray[Any]:
    return sum_tensor(torch.from_numpy(values)).numpy()


def highest(value: int) -> int:
    """The largest of all processes' values: what one has noticed, all know."""
    tensor = torch.tensor(value)
    if dist.is_initialized():
        with _together():
            dist.all_reduce(tensor, dist.ReduceOp.MAX)
    return int(tensor)


def join_rows(part: NDArray[Any], num: int) -> NDArray[Any]:
    """The rows of all processes in their order, from each one's own."""
    if num_processes() == 1:
        return part
    whole = np.zeros((num, *part.shape[1:]), part.dtype)
    start, stop = own_rows(num)
    whole[start:stop] = part
    return sum_up(whole)


def like_first(tensors: list[Tensor]) -> None:
    """In place: the numbers of the first process."""
    if dist.is_initialized():
        with _together():
            for tensor in tensors:
                dist.broadcast(tensor, 0)


def wait_for_all() -> None:
    if dist.is_initialized():
        with _together():
            dist.barrier()


def sum_gradients(tensors: list[Tensor], total: Tensor) -> Tensor:
    """Adds up gradients over all processes, in place, and returns the sum of `total`. All in one piece, in a fixed
    order: sums round in the same way in a run that was resumed."""
    if dist.is_initialized():
        flat = sum_tensor(torch.cat([total.reshape(1), *(tensor.reshape(-1) for tensor in tensors)]))
        total, *parts = flat.split([1, *(tensor.numel() for tensor in tensors)])
        for tensor, part in zip(tensors, parts, strict=True):
            tensor.copy_(part.view_as(tensor))
    return total.reshape(())
