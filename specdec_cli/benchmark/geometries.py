"""Geometries of the synthetic benchmark: shapes of models with random weights, and assumed acceptance rates."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, Self

from specdec_cli.errors import UsageError
from specdec_cli.model.config import TransformerConfig, preset
from specdec_cli.text.subwords import MASK

VOCABULARY = 32_000
SHORTEST, LONGEST = 24, 40
"""The smallest and the largest number of tokens in a source."""
_SOURCES = 8


@dataclass(frozen=True)
class Geometry:
    """A model shape, a decoding with drafts, and the CTranslate2 decodings that it is compared with (`opponents`).

    Every output has `length` tokens and takes `rounds` rounds. The drafter has `drafter_layers` layers and drafts
    `block_size` tokens; a block size of 0 means drafts of the whole rest of the output, as in input-guided decoding.
    """

    name: str
    shape: TransformerConfig
    decoding: str
    length: int
    rounds: int
    opponents: tuple[str, ...]
    block_size: int = 0
    drafter_layers: int = 0

    @property
    def tokens_per_round(self) -> float:
        """Tokens per round, the verifier's own token included."""
        return self.length / self.rounds

    def with_block_size(self, block_size: int) -> Self:
        """A copy with another block size; itself if its block size is 0. Raises UsageError if the blocks are too small for its rounds."""
        if not self.block_size:
            return self
        if self.rounds * (block_size + 1) < self.length:
            raise UsageError(f"block size {block_size}: {self.tokens_per_round:g} tokens a round need larger blocks")
        return replace(self, block_size=block_size)

    def to_dict(self) -> dict[str, Any]:
        """All fields, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`, with lists for tuples."""
        lists = {"shape": TransformerConfig.from_dict(values["shape"]), "opponents": tuple(values["opponents"])}
        return cls(**{**values, **lists})


# The output projection is not tied: with tied random weights, a model repeats its last token.
GEOMETRIES = (
    Geometry(
        "base",
        preset("base", VOCABULARY, tied_output=False),
        "specdec",
        length=33,
        rounds=6,
        opponents=("ctranslate2-greedy",),
        block_size=8,
        drafter_layers=2,
    ),
    Geometry(
        "big",
        preset("big", VOCABULARY, tied_output=False),
        "input-guided",
        length=36,
        rounds=3,
        opponents=("ctranslate2-greedy", "ctranslate2-beam"),
    ),
)


def default_geometries(block_size: int | Literal["auto"] | None) -> tuple[Geometry, ...]:
    """All geometries, with the block size `block_size` if it is a number. Raises UsageError if it is too small."""
    return tuple(geometry.with_block_size(block_size) if isinstance(block_size, int) else geometry for geometry in GEOMETRIES)


def piece(token: int) -> str:
    """The text of a token id."""
    return f"t{token}"


def make_sources(geometry: Geometry) -> list[str]:
    """Source lines of random tokens, from a fixed seed."""
    generator = random.Random(0)
    tokens = range(MASK + 1, geometry.shape.vocabulary_size)
    return [" ".join(piece(generator.choice(tokens)) for _ in range(generator.randint(SHORTEST, LONGEST))) for _ in range(_SOURCES)]


def accepted_tokens(geometry: Geometry, count: int) -> list[list[int]]:
    """For each of `count` sentences, the tokens of each round: random (from a fixed seed), with the geometry's mean."""
    generator = random.Random(1)
    return [_split(geometry.length, geometry.rounds, geometry.block_size or geometry.length, generator) for _ in range(count)]


def _split(length: int, rounds: int, block_size: int, generator: random.Random) -> list[int]:
    """Split `length` randomly into `rounds` numbers from 1 to `block_size` + 1."""
    sizes = [1] * rounds
    while sum(sizes) < length:
        sizes[generator.choice([number for number, size in enumerate(sizes) if size <= block_size])] += 1
    return sizes


def recorded_drafts(output: Sequence[int], accepted: Sequence[int], block_size: int, vocabulary_size: int) -> list[list[int]]:
    """Drafts of which verification accepts exactly the tokens of `accepted` in each round.

    `output` is the greedy output; `accepted` are the tokens of each round, the verifier's own token included. A draft has
    `block_size` tokens (0: all but one of the rest of the output): right tokens, then wrong ones.
    """
    drafts, start = [], 0
    for tokens in accepted:
        end = start + tokens - 1
        width = block_size or len(output) - start - 1
        wrong = (output[end] + 1) % vocabulary_size
        drafts.append([*output[start:end], *[wrong] * (width - tokens + 1)])
        start = end + 1
    return drafts
