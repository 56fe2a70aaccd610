"""How long do products of rows with columns take, channel by channel and as a batch of matrix products?

    python benchmarks/products.py [ROUNDS]

Forward and backward of the sublayer, 32 channels of each form, 128 dimensions, batches of 64; and a training step of
the preset `fast-2` with and without them. Interleaved, medians, one thread.
"""

from __future__ import annotations

import sys
from functools import partial

import torch
from interleave import interleave
from torch import Tensor

from learnalg.config import replace_fields
from learnalg.config.presets import preset
from learnalg.data import TrainingData
from learnalg.models.grid import Layout
from learnalg.models.products import Products, gather, spread
from learnalg.training.step import new_state, train_step


def as_a_batch(products: Products, x_BLD: Tensor, layout: Layout) -> Tensor:
    grids = (spread(part(x_BLD), layout).permute(0, 3, 1, 2).chunk(3, 1) for part in (products.left, products.right))
    (a, b, c), (x, y, z) = grids
    made = torch.cat([a @ x, b.mT @ y, c @ z.mT], 1).permute(0, 2, 3, 1)
    return products.out(gather(made, layout, x_BLD.shape[1]))


def both_ways(forward: partial[Tensor], x_BLD: Tensor) -> None:
    out = forward(x_BLD)
    out.backward(torch.ones_like(out))


def main(rounds: int) -> None:
    torch.set_num_threads(1)
    for size in (3, 5, 8):
        config = replace_fields(preset("fast-2"), task="inverse", dim=str(size), batch_size=64)
        state = new_state(replace_fields(config, threads=1, precision="fp32"), torch.device("cpu"))
        batch = TrainingData(config).batch(0)
        layout = state.model.source_grid.layout(torch.from_numpy(batch.sources))
        products = Products(config.model, config.model.width("encoder"), "token")
        torch.nn.init.normal_(products.out.weight)
        x_BLD = torch.randn(64, batch.sources.shape[1], config.model.width("encoder"), requires_grad=True)
        ways = {
            "channel by channel": partial(products, layout=layout),
            "as a batch": partial(as_a_batch, products, layout=layout),
        }
        torch.testing.assert_close(*(way(x_BLD) for way in ways.values()), atol=1e-3, rtol=1e-3)
        print(
            f"{size}x{size}: {interleave({name: partial(both_ways, way, x_BLD) for name, way in ways.items()}, rounds)}"
        )
    for task, dim in (("inverse", "3"), ("inverse", "5"), ("eigenvalues", "8")):
        steps = {}
        for name, num in (("without", 0), ("with", 32)):
            config = replace_fields(preset("fast-2"), task=task, dim=dim, batch_size=32, products=num)
            config = replace_fields(config, threads=1, precision="fp32")
            steps[name] = partial(train_step, new_state(config, torch.device("cpu")), TrainingData(config).batch(0))
        print(f"{task} {dim}x{dim}, a step: {interleave(steps, rounds)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 11)
