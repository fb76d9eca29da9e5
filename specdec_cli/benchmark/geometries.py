"""Models of random weights whose rounds are measured: their shapes, and the acceptance that is taken as given."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, Self

from specdec_cli.errors import UsageError
from specdec_cli.model.config import TransformerConfig, preset
from specdec_cli.text.subwords import MASK

VOCABULARY = 32_000
SHORTEST, LONGEST = 24, 40
"""Tokens of a source."""
_SOURCES = 8


@dataclass(frozen=True)
class Geometry:
    """A shape of model, the decoding that drafts for it, and the CTranslate2 decodings that it is compared with.

    Every output has `length` tokens, in `rounds` rounds where drafts are accepted as recorded. `block_size` is that of a
    drafter with as many layers as `drafter_layers`; 0 is for drafts of all that is left, as input-guided decoding has them.
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
        """The recorded acceptance: tokens of a round, the verifier's own included."""
        return self.length / self.rounds

    def with_block_size(self, block_size: int) -> Self:
        """The same with other blocks, where it has blocks at all. Raises UsageError if its rounds do not fit them."""
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


# The output projection is not tied: a random model with tied weights says its last token again and again.
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


def usual_geometries(block_size: int | Literal["auto"] | None) -> tuple[Geometry, ...]:
    """All of them, with blocks of `block_size` if that is a number. Raises UsageError for one that is too small."""
    return tuple(geometry.with_block_size(block_size) if isinstance(block_size, int) else geometry for geometry in GEOMETRIES)


def piece(token: int) -> str:
    """How a token that is no special one is written."""
    return f"t{token}"


def make_sources(geometry: Geometry) -> list[str]:
    """Lines of random tokens, the same every time."""
    generator = random.Random(0)
    tokens = range(MASK + 1, geometry.shape.vocabulary_size)
    return [" ".join(piece(generator.choice(tokens)) for _ in range(generator.randint(SHORTEST, LONGEST))) for _ in range(_SOURCES)]


def accepted_tokens(geometry: Geometry, count: int) -> list[list[int]]:
    """For each of `count` sentences how many tokens each round yields: at random, the same every time, of the right mean."""
    generator = random.Random(1)
    return [_split(geometry.length, geometry.rounds, geometry.block_size or geometry.length, generator) for _ in range(count)]


def _split(length: int, rounds: int, block_size: int, generator: random.Random) -> list[int]:
    """`length` as a sum of `rounds` numbers from 1 to a whole block and the verifier's own token."""
    sizes = [1] * rounds
    while sum(sizes) < length:
        sizes[generator.choice([number for number, size in enumerate(sizes) if size <= block_size])] += 1
    return sizes


def recorded_drafts(output: Sequence[int], accepted: Sequence[int], block_size: int, vocabulary_size: int) -> list[list[int]]:
    """A draft for each round that greedy decoding's `output` takes, right up to the token that the verifier adds itself.

    They have `block_size` tokens, or, if that is 0, one less than is left of the output.
    """
    drafts, start = [], 0
    for tokens in accepted:
        end = start + tokens - 1
        width = block_size or len(output) - start - 1
        wrong = (output[end] + 1) % vocabulary_size
        drafts.append([*output[start:end], *[wrong] * (width - tokens + 1)])
        start = end + 1
    return drafts
