"""Configurations of trained drafters: block drafters and heads."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, Self

from specdec_cli.errors import ModelError
from specdec_cli.fields import Between, StoredConfig, check_fields, unknown_key
from specdec_cli.model.config import WIDEST_FEED_FORWARD, FeedForward, Id, Layers, TransformerConfig
from specdec_cli.text.tokenize.sentencepiece import MASK

Reads = Literal["states", "encoder", "nothing"]
Candidates = Annotated[int, Between(1, 64)]
"""A number of candidates of a slot link."""
OWN_SHAPE = (
    *("width", "heads", "encoder_layers", "norm", "activation", "positions", "embedding_scale", "embedding_norm"),
    *("shared_embeddings", "tied_output", "output_bias"),
)
"""Fields of TransformerConfig that may differ between a drafter with its own encoder and embeddings and its
verifier.
"""


@dataclass(frozen=True)
class DrafterConfig(StoredConfig):
    """Configuration of a block drafter. The recipe gad-drafter has the values of Xia et al. 2022 (GAD, Section 3.1).

    - `kind`: distinguishes a block drafter from heads.
    - `prefix`: the drafter attends to the verifier's top states ("states"), or to its own layers over the prefix ("own").
    - `layers`: number of the drafter's decoder layers.
    - `feed_forward`: inner width of the feed-forward layers, a multiple of 16 (0: the verifier's, as layers that start from its
      weights need).
    - `max_block`: the largest block size K.
    - `chain`: width of the slot link, 0 for none.
    - `recurrent`: through the slot link, a slot depends on all tokens of the draft before it, instead of only on the last of them.
    - `candidates`: number of tokens per slot among which the slot link chooses.
    - `shortlist`: drafts have only the tokens with ids below this number, which makes drafting with a large vocabulary faster;
      0 for all.
    - `layout`: "shifted" is the last token and K - 1 masks, each at the position of the token before the one it predicts;
      "unshifted" is K masks, each at the position of the token it predicts.
    - `source_copy`: whether the masks' embeddings include a soft copy of the source's embeddings.
    - `copy_mode`: the copy is added to the mask's embedding ("add"), or replaces it ("replace").
    - `attention`: over the prefix: "causal", with cached keys and values, or "bidirectional": the prefix also attends to the block,
      so all of it is computed again in every round.
    - `positions`: position embeddings are added at the input ("input"), or also before every later layer ("layers").
    - `encoder`: "shared" with the verifier, or the drafter's "own".
    - `embeddings`: token and position embeddings and output projection: "shared" with the verifier, or the drafter's "own".
    - `model`: keys of the shape that differ from those of the verifier: width, heads, encoder_layers, norm, activation, positions,
      embedding_scale, embedding_norm, shared_embeddings, tied_output or output_bias. They need `encoder` "own", `embeddings` "own" and
      `initial` "random".
    - `initial`: layers over the prefix, and the drafter's own encoder and embeddings, start from the verifier's weights ("verifier"), or
      from random weights ("random").
    - `mask`: the id of the mask token; training takes that of the tokenizer.

    Raises ModelError for values that are out of range or contradict each other.
    """

    kind: Literal["block"] = "block"
    prefix: Literal["states", "own"] = "states"
    layers: Layers = 1
    feed_forward: Annotated[int, Between(0, WIDEST_FEED_FORWARD)] = 0
    max_block: Annotated[int, Between(1, 4096)] = 10
    chain: Annotated[int, Between(0, 2**14)] = 256
    recurrent: bool = False
    candidates: Candidates = 8
    shortlist: Annotated[int, Between(0, 2**24)] = 0
    layout: Literal["shifted", "unshifted"] = "shifted"
    source_copy: bool = False
    encoder: Literal["shared", "own"] = "shared"
    mask: Id = MASK
    attention: Literal["causal", "bidirectional"] = "causal"
    embeddings: Literal["shared", "own"] = "shared"
    positions: Literal["input", "layers"] = "input"
    copy_mode: Literal["add", "replace"] = "add"
    initial: Literal["verifier", "random"] = "verifier"
    model: Mapping[str, int | bool | str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_fields(self)
        if self.layout == "unshifted" and self.prefix == "states":
            raise ModelError('layout "unshifted" needs prefix "own": the last token has no state yet')
        if self.attention == "bidirectional" and self.prefix == "states":
            raise ModelError('attention "bidirectional" needs prefix "own": the verifier\'s states are causal')
        check_shortlist(self.shortlist, self.candidates)
        if self.recurrent and not self.chain:
            raise ModelError("recurrent needs a slot link (chain)")
        if self.copy_mode == "replace" and not self.source_copy:
            raise ModelError('copy_mode "replace" needs source_copy')
        unknown = sorted(set(self.model) - set(OWN_SHAPE))
        if unknown:
            raise ModelError(f"model: {unknown_key(unknown[0], OWN_SHAPE)}")
        if self.model and (self.embeddings, self.encoder, self.initial) != ("own", "own", "random"):
            raise ModelError('model, another shape than the verifier\'s, needs embeddings "own", encoder "own" and initial "random"')

    @property
    def offset(self) -> int:
        """The position at which a block begins, relative to the last accepted token: 0 or 1."""
        return 1 if self.layout == "unshifted" else 0

    @property
    def shortest_prefix(self) -> int:
        """The shortest prefix, in tokens, after which there are drafts: 0, as a block drafter drafts from the first token on."""
        return 0

    @property
    def reads(self) -> Reads:
        """What the drafter needs of the verifier: "states" (top states of the prefix), "encoder" (only the encoded
        source), or "nothing".
        """
        if self.prefix == "states":
            return "states"
        return "encoder" if self.encoder == "shared" else "nothing"

    def fitted(self, verifier: TransformerConfig) -> Self:
        """A copy of this configuration in which `feed_forward`, if it is 0, is replaced by that of the verifier."""
        return replace(self, feed_forward=self.feed_forward or verifier.feed_forward)

    def shape(self, verifier: TransformerConfig) -> TransformerConfig:
        """The configuration of the drafter as a Transformer, given that of its verifier. Raises ModelError for
        inconsistent sizes.
        """
        shape = replace(verifier, decoder_layers=self.layers, feed_forward=self.fitted(verifier).feed_forward)
        return TransformerConfig.from_dict(shape.to_dict() | dict(self.model))

    def check_against(self, verifier: TransformerConfig) -> None:
        """Raise ModelError if the mask id, the shortlist or the number of candidates exceeds the vocabulary of
        `verifier`, or if the verifier has relative positions and the drafter adds positions to embeddings. A drafter over the verifier's
        states needs none: the states depend on their positions already.
        """
        if verifier.positions == "relative" and (self.prefix, self.positions, self.source_copy) != ("states", "input", False):
            raise ModelError(
                'a verifier with relative positions has block drafters with prefix "states", positions "input" and no source_copy, or heads'
            )
        size = verifier.vocabulary_size
        for name, most in (("mask", size - 1), ("shortlist", size), ("candidates", size)):
            if getattr(self, name) > most:
                raise ModelError(f"{name} is {getattr(self, name)}, but the verifier's vocabulary has {size} tokens")

    def fewest_weights(self, verifier: TransformerConfig) -> int:
        """A lower bound on the number of weights of a drafter for `verifier`: those of its layers, and of its slots
        or embeddings.

        Raises ModelError if the sizes of the two configurations contradict each other.
        """
        shape = self.shape(verifier)
        rows = shape.vocabulary_size if self.embeddings == "own" else self.max_block
        return shape.width * (rows + 2 * self.chain + self.layers * (8 * shape.width + 2 * shape.feed_forward))


def check_shortlist(shortlist: int, candidates: int) -> None:
    """Raise ModelError if `shortlist` is less than `candidates`, the number of tokens that a slot link chooses
    among; 0 is no shortlist.
    """
    if 0 < shortlist < candidates:
        raise ModelError(f"candidates is {candidates}, but the shortlist has {shortlist} tokens")


@dataclass(frozen=True)
class HeadsConfig(StoredConfig):
    """Configuration of heads on the verifier's top states (Stern et al. 2018, Section 3).

    - `kind`: distinguishes heads from a block drafter.
    - `max_block`: the number of heads, which is the largest block size: K - 1 where the paper's K counts the verifier's prediction too.
    - `feed_forward`: the inner width of a head.
    - `chain`: width of the slot link, 0 for none, as in the paper.
    - `candidates`: number of tokens per slot among which the slot link chooses.
    - `shortlist`: drafts have only the tokens with ids below this number, which makes drafting with a large vocabulary faster;
      0 for all.
    - `start`: draft also before the first token, from the encoder's states; without it, as in the paper, a sentence's first round has
      no draft.
    """

    kind: Literal["heads"] = "heads"
    max_block: Annotated[int, Between(1, 256)] = 4
    feed_forward: FeedForward = 768
    chain: Annotated[int, Between(0, 2**14)] = 0
    candidates: Candidates = 8
    shortlist: Annotated[int, Between(0, 2**24)] = 0
    start: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        check_shortlist(self.shortlist, self.candidates)

    @property
    def reads(self) -> Reads:
        """What the heads need of the verifier: its top states ("states")."""
        return "states"

    @property
    def shortest_prefix(self) -> int:
        """The shortest prefix, in tokens, after which there are drafts: 0 with `start`; else 1, since no state predicts the first token."""
        return 0 if self.start else 1

    def check_against(self, verifier: TransformerConfig) -> None:
        """Raise ModelError if the number of candidates or the shortlist exceeds the vocabulary of `verifier`."""
        size = verifier.vocabulary_size
        for name in ("candidates", "shortlist"):
            if getattr(self, name) > size:
                raise ModelError(f"{name} is {getattr(self, name)}, but the verifier's vocabulary has {size} tokens")

    def fewest_weights(self, verifier: TransformerConfig) -> int:
        """A lower bound on the number of weights of heads for `verifier`: those of the heads' and the slot link's
        matrices.
        """
        return 2 * verifier.width * (self.max_block * self.feed_forward + self.chain)


AnyDrafterConfig = DrafterConfig | HeadsConfig


def drafter_config(values: Mapping[str, Any]) -> AnyDrafterConfig:
    """Make the configuration of a drafter from `values`: of heads if the key "kind" is "heads", else of a block
    drafter.

    Raises ModelError for another kind, an unknown key or an invalid value.
    """
    kind = values.get("kind", "block")
    if kind not in ("block", "heads"):
        raise ModelError(f"kind must be block or heads, not {kind!r}")
    return HeadsConfig.from_dict(values) if kind == "heads" else DrafterConfig.from_dict(values)
