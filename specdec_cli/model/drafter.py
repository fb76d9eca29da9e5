"""The drafter's network: a block of tokens at once, over a prefix whose keys and values stay."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, Self

import torch
from torch import Tensor, nn

from specdec_cli.errors import ModelError
from specdec_cli.model.cache import KeyStore
from specdec_cli.model.chain import Chain
from specdec_cli.model.config import config_from_dict
from specdec_cli.model.dropout import Dropout
from specdec_cli.model.transformer import DecoderLayer, Memory, Transformer, project_memory
from specdec_cli.text.subwords import MASK

Prefix = Literal["states", "own"]


@dataclass(frozen=True)
class DrafterConfig:
    """A drafter over the verifier's top states (`prefix` "states") or with prefix layers of its own ("own").

    `max_block` is the largest block size K; `chain` the width of the link between neighbouring slots
    (0: slots are independent, as in the papers) and `candidates` how many tokens a slot it chooses from.
    """

    prefix: Prefix = "states"
    layers: int = 1
    feed_forward: int = 1536
    max_block: int = 10
    chain: int = 256
    candidates: int = 8

    def __post_init__(self) -> None:
        if self.prefix not in ("states", "own"):
            raise ModelError(f"a drafter's prefix is 'states' or 'own', not {self.prefix!r}")
        if self.layers < 1 or self.max_block < 1:
            raise ModelError("a drafter needs at least one layer and a block of at least one token")

    def to_dict(self) -> dict[str, Any]:
        """All fields, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`. Raises ModelError naming an unknown or missing key."""
        return config_from_dict(cls, values)


class BlockDrafter(nn.Module):
    """A non-autoregressive drafter, prefix causal and block bidirectional (after GAD, Section 3.1).

    The block is the last accepted token and masks; slot j stands at the position of the token before the one
    it predicts, as in the verifier. Embeddings, encoder and output projection are the verifier's.
    Unlike the papers' drafter it never looks from the prefix into the block, so that the prefix is cached;
    and a slot may condition on the token chosen for the slot before it (`Chain`).
    """

    def __init__(self, config: DrafterConfig, verifier: Transformer, dropout: float = 0.0) -> None:
        super().__init__()
        self.config = config
        self._verifier = (verifier,)  # in a tuple, so that its weights are not the drafter's
        shape = replace(verifier.config, decoder_layers=config.layers, feed_forward=config.feed_forward)
        width = shape.width
        self.heads, self.head_width = shape.heads, shape.head_width
        self.slots = nn.Parameter(torch.zeros(config.max_block, width))
        self.layers = nn.ModuleList(DecoderLayer(shape, dropout) for _ in range(config.layers))
        self.norm = nn.LayerNorm(width)
        self.dropout = Dropout(dropout)
        if config.prefix == "states":
            self.prefix_keys_values = nn.Linear(width, config.layers * 2 * width)
            self.previous_state = nn.Linear(width, width)
        else:
            self.prefix_mark = nn.Parameter(torch.zeros(width))
        self.chain = Chain(width, config.chain) if config.chain else None

    @property
    def verifier(self) -> Transformer:
        """The model it drafts for."""
        return self._verifier[0]

    def memory_keys_values(self, memory: Memory) -> list[Tensor]:
        """Keys and values (B, M, 2, H, D) of the encoder's states, one a layer."""
        return project_memory(self.layers, memory.states)

    def project_states(self, states: Tensor) -> Sequence[Tensor]:
        """Keys and values (B, Q, 2, H, D) of the verifier's top states (B, Q, W), one a layer."""
        projected: Tensor = self.prefix_keys_values(states)
        parts = projected.view(*states.shape[:2], self.config.layers, 2, self.heads, self.head_width)
        return parts.unbind(2)

    def embed_block(self, last: Tensor, positions: Tensor, previous: Tensor | None, shown: Tensor | None = None) -> Tensor:
        """Inputs (N, k, W) of blocks at `positions` (N, k).

        `last` (N,) is the last accepted token, `previous` (N, W) the verifier's state that predicted it
        (zeros at the start of a sentence); `shown` (N, k), where not negative, stands in place of masks.
        """
        masks = torch.full_like(positions, MASK)
        masks[:, 0] = last
        if shown is not None:
            masks = torch.where(shown >= 0, shown, masks)
        x: Tensor = self.verifier.embedding(masks, positions) + self.slots[: positions.shape[1]]
        if previous is not None:
            x = x + self.previous_state(previous)[:, None]
        output: Tensor = self.dropout(x)
        return output

    def embed_prefix(self, ids: Tensor, positions: Tensor) -> Tensor:
        """Inputs (B, T, W) of prefix tokens, for layers of the drafter's own."""
        output: Tensor = self.dropout(self.verifier.embedding(ids, positions) + self.prefix_mark)
        return output

    def run(self, x: Tensor, mask: Tensor, memory: Sequence[Tensor], memory_mask: Tensor, stores: Sequence[KeyStore | None]) -> Tensor:
        """The layers over inputs (B, Q, W) under an additive mask (B, 1, Q, S): states (B, Q, W)."""
        for layer, keys_values, store in zip(self.layers, memory, stores, strict=True):
            x = layer(x, mask, keys_values, memory_mask, store)
        states: Tensor = self.norm(x)
        return states

    def choose(self, states: Tensor, last: Tensor) -> Tensor:
        """The drafted ids (N, k) for the states of blocks (N, k, W), which follow the tokens `last` (N,)."""
        if self.chain is None:
            logits: Tensor = self.verifier.output(states)
            return logits.argmax(-1)
        return self.chain.choose(states, last, self.verifier, self.config.candidates)
