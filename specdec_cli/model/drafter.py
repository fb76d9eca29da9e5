"""The network of the block drafter: it predicts a block of tokens in one pass after a cached prefix."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from specdec_cli.errors import ModelError
from specdec_cli.model.attention import Mask, PrefixMask
from specdec_cli.model.cache import KeyStore
from specdec_cli.model.draft_network import DraftNetwork
from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.model.dropout import Dropout
from specdec_cli.model.embedding import Embedding, Vocabulary
from specdec_cli.model.layers import DecoderLayer, DecoderLayers
from specdec_cli.model.slot_link import SlotLink
from specdec_cli.model.transformer import Encoder, Memory, Transformer


@dataclass
class SourceView:
    """What a block drafter computes once from the sources of B rows of M tokens.

    `keys_values` are (B, M, 2, H, D) for each layer, `mask` hides padding, `embeddings` (B, M, W) are the source's
    embeddings without positions; (B, M, 0) without a source copy.
    """

    keys_values: list[Tensor]
    mask: PrefixMask
    embeddings: Tensor


class BlockDrafter(DraftNetwork):
    """A non-autoregressive drafter: it predicts a block of tokens in one pass after a prefix (Xia et al. 2022, GAD,
    Section 3.1).

    The configuration says what it shares with the verifier, and how prefix and block are laid out and attend to each
    other; the attribute `config` is fitted to the verifier's (`DrafterConfig.fitted`). The attributes `embedding` and
    `output` exist only with `embeddings` "own" in `config`; `vocabulary` has those in use. Raises ModelError if the
    configuration does not fit that of `verifier`.
    """

    config: DrafterConfig
    embedding: Embedding
    output: nn.Linear

    def __init__(self, config: DrafterConfig, verifier: Transformer, dropout: float = 0.0) -> None:
        super().__init__(verifier)
        config.check_against(verifier.config)
        self.config = config = config.fitted(verifier.config)
        shape = config.shape(verifier.config)
        width, read = shape.width, verifier.config.width
        self.heads, self.head_width = shape.heads, shape.head_width
        if config.embeddings == "own":
            own = Transformer(shape, dropout)
            self.embedding, self.output, self.layers, self.norm = own.embedding, own.output, own.layers, own.norm
        else:
            # The verifier's embeddings are frozen, so learned vectors mark masks and prefix.
            self.slots = nn.Parameter(torch.zeros(config.max_block, width))
            self.layers = DecoderLayers(DecoderLayer(shape, dropout) for _ in range(config.layers))
            self.norm = nn.LayerNorm(width)
        self.dropout = Dropout(dropout if config.embeddings == "shared" else 0.0)  # embeddings of its own apply dropout themselves
        if config.prefix == "states":
            self.prefix_keys_values = nn.Linear(read, config.layers * 2 * width)
            self.previous_state = nn.Linear(read, width)
        elif config.embeddings == "shared":
            self.prefix_mark = nn.Parameter(torch.zeros(width))
        if config.source_copy:
            self.copy_query = nn.Linear(width, width, bias=False)
        if config.encoder == "own" and config.embeddings == "own":
            self.encoder = own.encoder
        elif config.encoder == "own":
            self.encoder = Encoder(verifier.config, nn.Embedding(verifier.config.source_size, width), dropout)
        self.chain = SlotLink(width, config.chain, recurrent=config.recurrent) if config.chain else None

    @property
    def vocabulary(self) -> Vocabulary:
        """Embeddings and output projection: the drafter's own, or the verifier's in the drafter's precision."""
        return self if self.config.embeddings == "own" else super().vocabulary

    def initialize_from_verifier(self) -> None:
        """Copy weights of the verifier to the drafter's own encoder, embeddings, output projection and layers over the
        prefix, in place. Layers that the verifier's decoder does not have keep their weights.

        Raises ModelError if the inner width of the feed-forward layers differs in a part that is copied.
        """
        verifier, config = self.verifier, self.config
        own, theirs = config.feed_forward, verifier.config.feed_forward
        if own != theirs and (config.prefix == "own" or self._apart):
            raise ModelError(
                f"drafter.feed_forward is {own}, but the verifier's layers, from which the drafter's start, have {theirs}; "
                "leave it out, or start from random weights (drafter.initial=random)"
            )
        if config.encoder == "own":
            self.encoder.load_state_dict(verifier.encoder.state_dict())
        if config.embeddings == "own":
            for name in ("embedding", "norm", "output"):
                getattr(self, name).load_state_dict(getattr(verifier, name).state_dict())
        if config.prefix == "own":
            for layer, model in zip(self.layers, verifier.layers, strict=False):
                layer.load_state_dict(model.state_dict())

    @torch.no_grad()
    def initialize_from_drafter(self, other: "BlockDrafter") -> None:
        """Copy the weights of the drafter `other`, in place; additional layers are initialized to the identity.

        `other` may have another number of layers or slots. Raises ModelError if a width differs.
        """
        theirs = other.state_dict()
        for name, own in self.state_dict().items():
            if name not in theirs:
                continue
            if own.shape[1:] != theirs[name].shape[1:]:
                raise ModelError(f"a drafter with {name} of {tuple(theirs[name].shape)} cannot initialise one of {tuple(own.shape)}")
            # Rows are units or slots; those of the first layers come first.
            rows = min(len(own), len(theirs[name]))
            own[:rows] = theirs[name][:rows]
        for layer in self.layers[other.config.layers :]:
            assert isinstance(layer, DecoderLayer)
            for part in (layer.attention.output, layer.cross_attention.output, layer.feed_forward.outer):
                nn.init.zeros_(part.weight)
                nn.init.zeros_(part.bias)

    def read_source(self, source: Tensor, memory: Memory | None) -> SourceView:
        """Compute the drafter's view of `source` ids (B, M). `memory` is the verifier's encoding; None if the
        drafter has its own encoder.
        """
        dtype = self.like.dtype
        if self.config.encoder == "own":
            states, mask = self.encoder(source)
        else:
            assert memory is not None
            states, mask = memory.states.to(dtype), replace(memory.mask, dtype=dtype)
        embeddings = states[:, :, :0]
        if self.config.source_copy:
            tokens = self.encoder.embedding.tokens if self._apart else self.verifier.encoder.embedding.tokens
            embeddings = tokens(source).to(dtype) * self.vocabulary.embedding.scale
        return SourceView(self.layers.project_memory(states), mask, embeddings)

    @property
    def _apart(self) -> bool:
        """Whether the drafter has its own encoder and its own embeddings."""
        return self.config.encoder == self.config.embeddings == "own"

    def project_states(self, states: Tensor) -> Tensor:
        """The keys and values (B, Q, L, 2, H, D), for the drafter's L layers, of the verifier's top states (B, Q,
        W).
        """
        projected: Tensor = self.prefix_keys_values(states.to(self.like.dtype))
        return projected.view(*states.shape[:2], self.config.layers, 2, self.heads, self.head_width)

    def embed_block(
        self, last: Tensor, positions: Tensor, view: SourceView, previous: Tensor | None, shown: Tensor | None = None
    ) -> Tensor:
        """Input vectors (B, N, k, W) of N blocks in each row, at `positions` (B, N, k).

        `last` (B, N) is the token accepted last before each block, `previous` (B, N, W) the verifier's top state
        that predicted it (zeros at the start of a sentence). Ids in `shown` (B, N, k) that are not negative replace
        masks.
        """
        ids = torch.full_like(positions, self.config.mask)
        if self.config.offset == 0:
            ids[..., 0] = last
        if shown is not None:
            ids = torch.where(shown >= 0, shown, ids)
        embedding = self.vocabulary.embedding
        copied = self._copy(view, positions.flatten(1)).view(*positions.shape, -1) if self.config.source_copy else None
        if copied is not None and self.config.copy_mode == "replace":
            masked = torch.ones_like(positions, dtype=torch.bool) if shown is None else shown < 0
            masked[..., : 1 - self.config.offset] = False
            x = embedding.place(torch.where(masked[..., None], copied, embedding.tokens(ids) * embedding.scale), positions)
        else:
            x = embedding(ids, positions)
            x = x if copied is None else x + copied
        if self.config.embeddings == "shared":
            x = x + self.slots[: positions.shape[2]]
        if previous is not None:
            x = x + self.previous_state(previous.to(x.dtype))[:, :, None]
        output: Tensor = self.dropout(x)
        return output

    def _copy(self, view: SourceView, positions: Tensor) -> Tensor:
        """A soft copy of the source for `positions` (B, Q): attention by positions alone (as in GAD's code; its text differs)."""
        embedding = self.vocabulary.embedding
        source = self.encoder.embedding if self._apart else embedding
        keys = view.embeddings + source.at(torch.arange(view.embeddings.shape[1], device=positions.device))
        scores = self.copy_query(embedding.at(positions)) @ keys.transpose(1, 2) + view.mask.additive[:, 0]
        copied: Tensor = scores.softmax(-1) @ view.embeddings
        return copied

    def embed_prefix(self, ids: Tensor, positions: Tensor) -> Tensor:
        """Input vectors (B, T, W) of prefix tokens `ids` (B, T) at `positions` (B, T), for a drafter with layers of
        its own over the prefix.
        """
        x = self.vocabulary.embedding(ids, positions)
        output: Tensor = self.dropout(x if self.config.embeddings == "own" else x + self.prefix_mark)
        return output

    def run(self, x: Tensor, positions: Tensor, mask: Mask, view: SourceView, stores: Sequence[KeyStore | None] | None) -> Tensor:
        """States (B, Q, W) of the top layer from inputs `x` (B, Q, W) at `positions` (B, Q).

        Each layer writes its keys and values to its store and attends to all of the store; without `stores` it
        attends to those of `x`. A mask that is a tensor is additive, (B, 1, Q, S).
        """
        between = self.vocabulary.embedding.at(positions) if self.config.positions == "layers" else None
        states: Tensor = self.norm(self.layers(x, mask, view.keys_values, view.mask, stores, between))
        return states
