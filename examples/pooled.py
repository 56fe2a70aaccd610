"""An architecture of your own: without attention. The encoder adds up what each token says at its place; a GRU writes.

learnalg train --plugin examples/pooled.py --architecture pooled --positions grid --relations none --products 0
    --task add --dim 2 --examples 50000 --out runs/pooled
"""

from typing import Any

from torch import Tensor, nn

from learnalg.config import ModelConfig
from learnalg.models import MODELS, Side
from learnalg.models.outputs import Part, allowed_tokens, make_bias, set_prior, token_parts, token_vectors, whole_logits
from learnalg.models.transformer import Embed


class Pooled(nn.Module):
    """Sums over tokens, and a GRU that writes."""

    def __init__(self, config: ModelConfig, source: Side, target: Side) -> None:
        super().__init__()
        if config.products or config.relations != "none":
            raise ValueError("pooled has no attention: --relations none --products 0")
        dim = config.width("encoder")
        self.pad, self.side = source.pad, target
        self.read = Embed(config, source, dim, config.input_embedding, config.positions_of("encoder"), shift=0)
        self.mix = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))
        self.embed = Embed(config, target, dim, config.output_embedding, config.positions_of("decoder"), shift=1)
        self.write = nn.GRU(dim, dim, batch_first=True)
        self.bias, self.allowed = make_bias(config, target), allowed_tokens(config, target)

    def encode(self, source_BS: Tensor) -> Tensor:
        """The first state of the GRU, (1, B, D)."""
        is_token_BS1 = (source_BS != self.pad)[..., None]
        return (self.mix(self.read(source_BS)) * is_token_BS1).sum(1).tanh()[None]

    def parts(self, hidden_BTD: Tensor, start: int = 0) -> list[Part]:
        """The logits, place by place: `self.bias`, `self.allowed` and `self.side` say of which tokens."""
        return token_parts(hidden_BTD, token_vectors(self), self, start)

    def forward(self, source_BS: Tensor, target_BT: Tensor, padded: bool = True, in_parts: bool = False) -> Any:
        hidden_BTD, _ = self.write(self.embed(target_BT), self.encode(source_BS))
        parts = self.parts(hidden_BTD)
        return parts if in_parts else whole_logits(parts, self.side.vocab_size)

    def begin(self, source_BS: Tensor, max_length: int) -> dict[str, Any]:
        prefix_BT = source_BS.new_zeros((len(source_BS), max_length))
        return {"length": 0, "prefix": prefix_BT, "hidden": self.encode(source_BS)[0]}

    def step(self, tokens_B: Tensor, state: dict[str, Any]) -> Tensor:
        at = state["length"]
        state["prefix"][:, at] = tokens_B
        embedded_B1D = self.embed(state["prefix"][:, : at + 1], last_only=True)
        hidden_B1D, last_1BD = self.write(embedded_B1D, state["hidden"][None].contiguous())
        state["hidden"], state["length"] = last_1BD[0], at + 1
        return whole_logits(self.parts(hidden_B1D, start=at), self.side.vocab_size)[:, 0]

    def set_prior(self, targets_BT: Tensor) -> None:
        set_prior(self.bias, self.side, targets_BT)

    def hidden_matrices(self) -> list[nn.Parameter]:
        layers = (self.mix, self.write)
        return [p for layer in layers for p in layer.parameters() if p.ndim == 2]

    def auxiliary_loss(self, source_BS: Tensor, target_BT: Tensor) -> None:
        return None


MODELS["pooled"] = Pooled
