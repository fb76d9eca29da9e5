"""Trained drafters: the block drafter, which is not autoregressive, and heads on the verifier's states."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from specdec_cli.errors import ModelError
from specdec_cli.model.attention import Mask, PrefixMask
from specdec_cli.model.cache import KeyStore
from specdec_cli.model.drafter_config import AnyDrafterConfig, DrafterConfig, HeadsConfig
from specdec_cli.model.layers import DecoderLayer, DecoderLayers, Dropout, Embedding, Vocabulary, make_norm
from specdec_cli.model.slot_link import SlotLink
from specdec_cli.model.transformer import Encoder, Memory, Transformer


@dataclass
class _Copy:
    """A copy of the verifier's vocabulary."""

    embedding: Embedding
    output: nn.Linear


class DraftNetwork(nn.Module):
    """Base class of trained networks that draft for `verifier`; `config` is the network's configuration. With a slot
    link (`chain`), a slot depends on the tokens of slots before it; with None, the slots are independent.
    """

    config: DrafterConfig | HeadsConfig
    chain: SlotLink | None

    def __init__(self, verifier: Transformer) -> None:
        super().__init__()
        # In a tuple, so that torch does not register these weights as the drafter's own.
        self._verifier: tuple[Transformer] = (verifier,)
        self._vocabulary: tuple[Vocabulary] = (verifier,)

    @property
    def verifier(self) -> Transformer:
        """The model for which the network drafts."""
        return self._verifier[0]

    @property
    def vocabulary(self) -> Vocabulary:
        """The verifier's embeddings and output projection, converted to the drafter's precision if that was lowered."""
        return self._vocabulary[0]

    @property
    def like(self) -> Tensor:
        """A weight with the type and device of the network's activations, also in an int8 model."""
        return self.vocabulary.embedding.tokens.weight

    def lower_precision(self, dtype: torch.dtype) -> None:
        """Convert the network in place to `dtype`; it then uses copies in `dtype` of the verifier's embeddings and
        output projection.

        A network with embeddings of its own makes no copies. The verifier keeps its own type, so exact decoding has
        the same output.
        """
        self.to(dtype)
        if self.vocabulary is self._vocabulary[0]:
            embedding, output = copy.deepcopy((self.verifier.embedding, self.verifier.output))
            self._vocabulary = (_Copy(embedding.to(dtype), output.to(dtype)),)

    def choose(self, states: Tensor, last: Tensor) -> Tensor:
        """The drafted ids (N, k) for the states (N, k, W) of k slots that follow the tokens `last` (N,)."""
        if self.chain is None:
            logits: Tensor = self.vocabulary.output(states)[..., : self.config.shortlist or None]
            return logits.argmax(-1)
        return self.chain.choose(states, last, self.vocabulary, self.config.candidates, self.config.shortlist)


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
            self.norm = make_norm(shape)
        self.dropout = Dropout(dropout if config.embeddings == "shared" else 0.0)  # embeddings of its own apply dropout themselves
        if config.prefix == "states":
            self.prefix_keys_values = nn.Linear(read, config.layers * 2 * shape.heads_width)
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
        for name, parameter in self.state_dict().items():
            if name not in theirs:
                continue
            if parameter.shape[1:] != theirs[name].shape[1:]:
                raise ModelError(f"a drafter with {name} of {tuple(theirs[name].shape)} cannot initialise one of {tuple(parameter.shape)}")
            # Rows are units or slots; those of the first layers come first.
            rows = min(len(parameter), len(theirs[name]))
            parameter[:rows] = theirs[name][:rows]
        for layer in self.layers[other.config.layers :]:
            assert isinstance(layer, DecoderLayer)
            for part in (layer.attention.output, layer.cross_attention.output, layer.feed_forward.outer):
                nn.init.zeros_(part.weight)
                if part.bias is not None:
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


class Head(nn.Module):
    """A feed-forward layer with a residual connection; its output goes to the shared output projection (Stern et al.
    2018, Section 3).
    """

    def __init__(self, width: int, feed_forward: int, dropout: float) -> None:
        super().__init__()
        self.inner = nn.Linear(width, feed_forward)
        self.outer = nn.Linear(feed_forward, width)
        self.dropout = Dropout(dropout)

    def forward(self, states: Tensor) -> Tensor:
        """States (..., W) of one slot from the verifier's top states (..., W)."""
        change: Tensor = self.outer(F.relu(self.inner(states)))
        output: Tensor = states + self.dropout(change)
        return output


class Heads(DraftNetwork):
    """Predicts several tokens after the verifier's next token, all from the verifier's top state that predicts the
    next token.

    The state at a position predicts the next token through the verifier's output projection. Head j, from 1,
    predicts from the same state, through the same projection, the token j positions after the next one. A draft
    needs no pass over the decoder. Raises ModelError if the configuration does not fit that of `verifier`.
    """

    config: HeadsConfig

    def __init__(self, config: HeadsConfig, verifier: Transformer, dropout: float = 0.0) -> None:
        super().__init__(verifier)
        config.check_against(verifier.config)
        self.config = config
        width = verifier.config.width
        self.heads = nn.ModuleList(Head(width, config.feed_forward, dropout) for _ in range(config.max_block))
        self.chain = SlotLink(width, config.chain) if config.chain else None
        self.start = nn.Linear(2 * width, width) if config.start else None

    @torch.no_grad()
    def initialize_from(self, other: "Heads") -> None:
        """Copy the weights that `other` has too, in place. Raises ModelError if the shape of one differs."""
        theirs = other.state_dict()
        for name, parameter in self.state_dict().items():
            if name not in theirs:
                continue
            if parameter.shape != theirs[name].shape:
                raise ModelError(f"heads with {name} of {tuple(theirs[name].shape)} cannot initialise some of {tuple(parameter.shape)}")
            parameter.copy_(theirs[name])

    def first_states(self, memory: Memory) -> Tensor:
        """The states (B, W) that replace the verifier's before the first token.

        They are zeros, or with `start` in the configuration a projection of the first and the mean encoder state of
        each row.
        """
        if self.start is None:
            return memory.states.new_zeros(memory.states.shape[0], self.verifier.config.width)
        lengths = memory.mask.ends.amax(1, keepdim=True)
        inside = torch.arange(memory.states.shape[1], device=lengths.device) < lengths
        states = memory.states.to(self.like.dtype)
        mean = (states * inside[..., None]).sum(1) / lengths.clamp_min(1)
        first: Tensor = self.start(torch.cat([states[:, 0], mean], dim=1))
        return first.to(memory.states.dtype)

    def forward(self, states: Tensor, slots: int) -> Tensor:
        """States (..., k, W) of the first k = `slots` slots from the verifier's top states (..., W)."""
        states = states.to(self.like.dtype)
        return torch.stack([head(states) for head in self.heads[:slots]], dim=-2)


AnyDrafter = BlockDrafter | Heads


def make_drafter(config: AnyDrafterConfig, verifier: Transformer, dropout: float = 0.0) -> AnyDrafter:
    """Make a drafter for `verifier`, with random weights, of the kind of `config`. Raises ModelError if `config`
    does not fit the verifier.
    """
    return Heads(config, verifier, dropout) if isinstance(config, HeadsConfig) else BlockDrafter(config, verifier, dropout)
