"""The drafter's network: a block of tokens at once, over a prefix whose keys and values stay."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, Literal, Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from specdec_cli.errors import ModelError
from specdec_cli.fields import Between, check_fields, config_from_dict
from specdec_cli.model.attention import Mask, PrefixMask
from specdec_cli.model.cache import KeyStore
from specdec_cli.model.chain import Chain
from specdec_cli.model.config import FeedForward, Id, Layers, TransformerConfig
from specdec_cli.model.dropout import Dropout
from specdec_cli.model.transformer import DecoderLayer, DecoderLayers, Embedding, Encoder, Memory, Transformer, Vocabulary
from specdec_cli.text.subwords import MASK


@dataclass(frozen=True)
class DrafterConfig:
    """A drafter over the verifier's top states (`prefix` "states") or with prefix layers of its own ("own").

    `max_block` is the largest block size K; `chain` the width of the link between neighbouring slots
    (0: slots are independent, as in the papers) and `candidates` how many tokens a slot it chooses from.
    The papers' drafter has an unshifted layout (the block is masks alone, each at the place of the token it
    predicts), a soft copy of the source in its masks, and an encoder of its own. `mask` is the id of a place not known yet.
    Raises ModelError for what does not go together.
    """

    prefix: Literal["states", "own"] = "states"
    layers: Layers = 1
    feed_forward: FeedForward = 1536
    max_block: Annotated[int, Between(1, 4096)] = 10
    chain: Annotated[int, Between(0, 2**14)] = 256
    candidates: Annotated[int, Between(1, 1024)] = 8
    layout: Literal["shifted", "unshifted"] = "shifted"
    source_copy: bool = False
    encoder: Literal["shared", "own"] = "shared"
    mask: Id = MASK

    def __post_init__(self) -> None:
        check_fields(self)
        if self.layout == "unshifted" and self.prefix == "states":
            raise ModelError("an unshifted drafter needs layers of its own: the last token has no state yet")

    @property
    def offset(self) -> int:
        """Where a block begins, counted from the position of the last accepted token."""
        return 1 if self.layout == "unshifted" else 0

    def check_against(self, verifier: TransformerConfig) -> None:
        """Raises ModelError where a drafter of this shape does not go with `verifier`."""
        for name, most in (("mask", verifier.vocabulary_size - 1), ("candidates", verifier.vocabulary_size)):
            if getattr(self, name) > most:
                raise ModelError(f"{name} is {getattr(self, name)}, but the verifier's vocabulary has {verifier.vocabulary_size} tokens")

    def fewest_weights(self, width: int) -> int:
        """A lower bound on the number of weights of a drafter over a verifier of `width`: those of its layers and slots."""
        return width * (self.max_block + 2 * self.chain + self.layers * (8 * width + 2 * self.feed_forward))

    def to_dict(self) -> dict[str, Any]:
        """All fields, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`. Raises ModelError naming an unknown or missing key."""
        return config_from_dict(cls, values)


@dataclass
class SourceView:
    """What a drafter keeps of the sources: keys and values (B, M, 2, H, D) a layer, the mask of each row's
    own tokens, and the source's embeddings (B, M, W) without positions, of no columns unless it copies."""

    keys_values: list[Tensor]
    mask: PrefixMask
    embeddings: Tensor


@dataclass
class _Vocabulary:
    embedding: Embedding
    output: nn.Linear


class BlockDrafter(nn.Module):
    """A non-autoregressive drafter, prefix causal and block bidirectional (after GAD, Section 3.1).

    The block is the last accepted token and masks; slot j stands at the position of the token before the one
    it predicts, as in the verifier. Embeddings, output projection and (unless it has its own) encoder are the
    verifier's. Unlike the papers' drafter it never looks from the prefix into the block, so that the prefix is
    cached; and a slot may condition on the token chosen for the slot before it (`Chain`).
    """

    def __init__(self, config: DrafterConfig, verifier: Transformer, dropout: float = 0.0) -> None:
        super().__init__()
        config.check_against(verifier.config)
        self.config = config
        # In a tuple, so that these weights are not the drafter's own.
        self._verifier: tuple[Transformer] = (verifier,)
        self._vocabulary: tuple[Vocabulary] = (verifier,)
        shape = replace(verifier.config, decoder_layers=config.layers, feed_forward=config.feed_forward)
        width = shape.width
        self.heads, self.head_width = shape.heads, shape.head_width
        self.slots = nn.Parameter(torch.zeros(config.max_block, width))
        self.layers = DecoderLayers(DecoderLayer(shape, dropout) for _ in range(config.layers))
        self.norm = nn.LayerNorm(width)
        self.dropout = Dropout(dropout)
        if config.prefix == "states":
            self.prefix_keys_values = nn.Linear(width, config.layers * 2 * width)
            self.previous_state = nn.Linear(width, width)
        else:
            self.prefix_mark = nn.Parameter(torch.zeros(width))
        if config.source_copy:
            self.copy_query = nn.Linear(width, width, bias=False)
        if config.encoder == "own":
            self.encoder = Encoder(verifier.config, nn.Embedding(verifier.config.source_size, width), dropout)
        self.chain = Chain(width, config.chain) if config.chain else None

    @property
    def verifier(self) -> Transformer:
        """The model it drafts for."""
        return self._verifier[0]

    @property
    def vocabulary(self) -> Vocabulary:
        """The verifier's embeddings and output projection, in the drafter's precision."""
        return self._vocabulary[0]

    def lower_precision(self, dtype: torch.dtype) -> None:
        """Compute in `dtype` while the verifier keeps its own; what a draft says decides nothing, so this stays exact."""
        self.to(dtype)
        embedding, output = copy.deepcopy((self.verifier.embedding, self.verifier.output))
        self._vocabulary = (_Vocabulary(embedding.to(dtype), output.to(dtype)),)

    def initialize_from_verifier(self) -> None:
        """Take over the verifier's encoder, if it has its own, and as many of its decoder layers as fit in shape."""
        verifier = self.verifier
        if self.config.encoder == "own":
            self.encoder.load_state_dict(verifier.encoder.state_dict())
        if self.config.prefix == "own" and self.config.feed_forward == verifier.config.feed_forward:
            for layer, model in zip(self.layers, verifier.layers, strict=False):
                layer.load_state_dict(model.state_dict())

    @torch.no_grad()
    def initialize_from_drafter(self, other: "BlockDrafter") -> None:
        """Take over the weights of a drafter of the same widths; layers that it lacks change nothing at first.

        Raises ModelError where a width differs.
        """
        theirs = other.state_dict()
        for name, own in self.state_dict().items():
            if name not in theirs:
                continue
            if own.shape[1:] != theirs[name].shape[1:]:
                raise ModelError(f"a drafter with {name} of {tuple(theirs[name].shape)} cannot be the start of one of {tuple(own.shape)}")
            # One row a unit or a slot; those of the first layers come first.
            rows = min(len(own), len(theirs[name]))
            own[:rows] = theirs[name][:rows]
        for layer in self.layers[other.config.layers :]:
            assert isinstance(layer, DecoderLayer)
            for part in (layer.attention.output, layer.cross_attention.output, layer.feed_forward.outer):
                nn.init.zeros_(part.weight)
                nn.init.zeros_(part.bias)

    def read_source(self, source: Tensor, memory: Memory) -> SourceView:
        """What it keeps of `source` ids (B, M), whose encoding by the verifier is `memory`."""
        dtype = self.slots.dtype
        states = self.encoder(source)[0] if self.config.encoder == "own" else memory.states.to(dtype)
        embeddings = states[:, :, :0]
        if self.config.source_copy:
            embeddings = self.verifier.encoder.embedding.tokens(source).to(dtype) * self.vocabulary.embedding.scale
        return SourceView(self.layers.project_memory(states), replace(memory.mask, dtype=dtype), embeddings)

    def project_states(self, states: Tensor) -> Tensor:
        """Keys and values (B, Q, L, 2, H, D) of the verifier's top states (B, Q, W), for L layers."""
        projected: Tensor = self.prefix_keys_values(states.to(self.slots.dtype))
        return projected.view(*states.shape[:2], self.config.layers, 2, self.heads, self.head_width)

    def embed_block(
        self, last: Tensor, positions: Tensor, view: SourceView, previous: Tensor | None, shown: Tensor | None = None
    ) -> Tensor:
        """Inputs (B, M, k, W) of M blocks a row at `positions` (B, M, k).

        `last` (B, M) is the last accepted token, `previous` (B, M, W) the verifier's state that predicted it
        (zeros at the start of a sentence); `shown` (B, M, k), where not negative, stands in place of masks.
        """
        ids = torch.full_like(positions, self.config.mask)
        if self.config.offset == 0:
            ids[..., 0] = last
        if shown is not None:
            ids = torch.where(shown >= 0, shown, ids)
        x: Tensor = self.vocabulary.embedding(ids, positions) + self.slots[: positions.shape[2]]
        if previous is not None:
            x = x + self.previous_state(previous.to(x.dtype))[:, :, None]
        if self.config.source_copy:
            x = x + self._copy(view, positions.flatten(1)).view_as(x)
        output: Tensor = self.dropout(x)
        return output

    def _copy(self, view: SourceView, positions: Tensor) -> Tensor:
        """A soft copy of the source for `positions` (B, Q): attention from position to position (GAD's code, not its text)."""
        table = self.vocabulary.embedding.positions
        keys = view.embeddings + table[: view.embeddings.shape[1]]
        scores = self.copy_query(F.embedding(positions, table)) @ keys.transpose(1, 2) + view.mask.additive[:, 0]
        copied: Tensor = scores.softmax(-1) @ view.embeddings
        return copied

    def embed_prefix(self, ids: Tensor, positions: Tensor) -> Tensor:
        """Inputs (B, T, W) of prefix tokens, for layers of the drafter's own."""
        output: Tensor = self.dropout(self.vocabulary.embedding(ids, positions) + self.prefix_mark)
        return output

    def run(self, x: Tensor, mask: Mask, view: SourceView, stores: Sequence[KeyStore | None]) -> Tensor:
        """The layers over inputs (B, Q, W) under a mask, additive (B, 1, Q, S) or of prefixes: states (B, Q, W)."""
        states: Tensor = self.norm(self.layers(x, mask, view.keys_values, view.mask, stores))
        return states

    def choose(self, states: Tensor, last: Tensor) -> Tensor:
        """The drafted ids (N, k) for the states of blocks (N, k, W), which follow the tokens `last` (N,)."""
        if self.chain is None:
            logits: Tensor = self.vocabulary.output(states)
            return logits.argmax(-1)
        return self.chain.choose(states, last, self.vocabulary, self.config.candidates)
