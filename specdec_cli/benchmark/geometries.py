"""Geometries of the synthetic benchmark: shapes of models with random weights, with given numbers of tokens and rounds."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, Self

from specdec_cli.benchmark.rows import CTRANSLATE2
from specdec_cli.errors import UsageError
from specdec_cli.model.config import TransformerConfig, preset
from specdec_cli.text.tokenize.sentencepiece import MASK
from specdec_cli.text.tokenize.tokenizer import Tokenizer

Drafts = Mapping[tuple[int, ...], Sequence[Sequence[int]]]
"""The prepared drafts of each source, one for each round, by the ids of the source."""

VOCABULARY = 32_000
MARIAN_VOCABULARY = 58_000
SHORTEST, LONGEST = 24, 40
"""The smallest and the largest number of tokens in a source of the synthetic benchmark."""
_SOURCES = 8


@dataclass(frozen=True)
class Geometry:
    """A model shape of the synthetic benchmark, its decoding with drafts, and the CTranslate2 decodings it is compared with.

    Every output has `length` tokens and takes `rounds` rounds. The drafter has `drafter_layers` layers, which attend to
    the verifier's states or to their own states of the prefix (`drafter_prefix`). It drafts `block_size` tokens, which
    are among the first `shortlist` of the vocabulary (0: all). A block size of 0 means no drafter, and drafts of the
    rest of the output, as in input-guided decoding.
    """

    name: str
    shape: TransformerConfig
    decoding: str
    length: int
    rounds: int
    opponents: tuple[str, ...] = ("ctranslate2-greedy",)
    block_size: int = 0
    drafter_layers: int = 0
    shortlist: int = 0
    drafter_prefix: Literal["states", "own"] = "states"

    @property
    def tokens_per_round(self) -> float:
        """The tokens per round of every output, `length` / `rounds`; the verifier's own tokens are counted."""
        return self.length / self.rounds

    def with_block_size(self, block_size: int) -> Self:
        """A copy with another block size, or the geometry itself if its block size is 0.

        Raises UsageError if `rounds` blocks of this size, with a token of the verifier each, have less than `length` tokens.
        """
        if not self.block_size:
            return self
        if self.rounds * (block_size + 1) < self.length:
            raise UsageError(f"block size {block_size}: {self.tokens_per_round:g} tokens a round need larger blocks")
        return replace(self, block_size=block_size)

    def to_dict(self) -> dict[str, Any]:
        """All fields by name, nested dataclasses as dictionaries, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`; accepts lists for tuples, as JSON has them. Raises KeyError if the shape or opponents are missing."""
        lists = {"shape": TransformerConfig.from_dict(values["shape"]), "opponents": tuple(values["opponents"])}
        return cls(**{**values, **lists})


# The output projection is not tied: with tied random weights, a model repeats its last token.
_BASE, _BIG = (preset(size, VOCABULARY, tied_output=False) for size in ("base", "big"))
# The size of Marian's models of OPUS-MT, with a small drafter.
_MARIAN_SHAPE = replace(_BASE, vocabulary_size=MARIAN_VOCABULARY)
_MARIAN = Geometry("marian", _MARIAN_SHAPE, "specdec", length=28, rounds=10, block_size=3, drafter_layers=1, shortlist=8_000)

GEOMETRIES = (
    Geometry("base", _BASE, "specdec", length=33, rounds=6, block_size=8, drafter_layers=2),
    Geometry("big", _BIG, "input-guided", length=36, rounds=3, opponents=CTRANSLATE2),
    _MARIAN,
    # With a drafter of the recipe quick-drafter, and as many rounds as such a drafter needed for service dialogue.
    replace(_MARIAN, name="marian-quick", rounds=11, drafter_layers=2, drafter_prefix="own"),
)


def default_geometries(block_size: int | Literal["auto"] | None) -> tuple[Geometry, ...]:
    """The geometries GEOMETRIES, with the block size `block_size` if that is a number.

    Raises UsageError if it is too small for the rounds of a geometry (see `Geometry.with_block_size`).
    """
    return tuple(geometry.with_block_size(block_size) if isinstance(block_size, int) else geometry for geometry in GEOMETRIES)


def piece(token: int) -> str:
    """The word that stands for the token id `token` in synthetic text, such as "t17"."""
    return f"t{token}"


def make_sources(geometry: Geometry) -> list[str]:
    """Eight source lines of SHORTEST to LONGEST random words of the geometry's vocabulary, drawn with a fixed seed."""
    generator = random.Random(0)
    tokens = range(MASK + 1, geometry.shape.vocabulary_size)
    return [" ".join(piece(generator.choice(tokens)) for _ in range(generator.randint(SHORTEST, LONGEST))) for _ in range(_SOURCES)]


def accepted_tokens(geometry: Geometry, count: int) -> list[list[int]]:
    """For each of `count` sentences, the numbers of tokens that its rounds emit, the verifier's own tokens included.

    The numbers are drawn with a fixed seed; the `rounds` of a sentence sum to the geometry's `length`.
    """
    generator = random.Random(1)
    return [_split(geometry.length, geometry.rounds, geometry.block_size or geometry.length, generator) for _ in range(count)]


def _split(length: int, rounds: int, block_size: int, generator: random.Random) -> list[int]:
    """Split `length` randomly into `rounds` numbers from 1 to `block_size` + 1."""
    sizes = [1] * rounds
    while sum(sizes) < length:
        sizes[generator.choice([number for number, size in enumerate(sizes) if size <= block_size])] += 1
    return sizes


def recorded_drafts(output: Sequence[int], accepted: Sequence[int], block_size: int, vocabulary_size: int) -> list[list[int]]:
    """Make a draft for each round, of which verification accepts as many tokens as `accepted` says.

    `output` is the greedy output (ids); `accepted` has the number of tokens that each round emits, the verifier's own token
    included. A draft has `block_size` tokens (0: all but one of the rest of the output): right tokens, then wrong ones.
    """
    drafts, start = [], 0
    for tokens in accepted:
        end = start + tokens - 1
        width = block_size or len(output) - start - 1
        wrong = (output[end] + 1) % vocabulary_size
        drafts.append([*output[start:end], *[wrong] * (width - tokens + 1)])
        start = end + 1
    return drafts


def prepare_drafts(tokenizer: Tokenizer, geometry: Geometry, sources: Sequence[str], outputs: Sequence[Sequence[int]]) -> Drafts:
    """Drafts for `sources` with the greedy `outputs` (ids), such that every output takes the `rounds` of `geometry`."""
    ids = (tuple(tokenizer.add_special_tokens(tokenizer.encode(source))) for source in sources)
    accepted, size = accepted_tokens(geometry, len(sources)), geometry.shape.vocabulary_size
    return {
        source: recorded_drafts(output, tokens, geometry.block_size, size)
        for source, output, tokens in zip(ids, outputs, accepted, strict=True)
    }
