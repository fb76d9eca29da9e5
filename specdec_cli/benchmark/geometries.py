"""The model shapes of the synthetic benchmark, and what is decoded with them: random text, and rounds that accept what is recorded."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from specdec_cli.benchmark.rows import CTRANSLATE2
from specdec_cli.errors import UsageError
from specdec_cli.model.config import TransformerConfig, preset
from specdec_cli.text.tokenize.sentencepiece import MASK

VOCABULARY = 32_000
MARIAN_VOCABULARY = 58_000
SHORTEST, LONGEST = 24, 40
"""The smallest and the largest number of tokens in a source of the synthetic benchmark."""
Drafts = Mapping[tuple[int, ...], Sequence[Sequence[int]]]
"""The prepared drafts of each source, one for each round, by the ids of the source."""
_SOURCES = 8
_BATCHES = (1, 32)


@dataclass(frozen=True)
class Geometry:
    """A model shape of the synthetic benchmark, its decoding with drafts, and the CTranslate2 decodings it is compared with.

    With `batches`, greedy decoding in batches of these sizes is measured in place of drafts, with memory and start.

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
    batches: tuple[int, ...] = ()

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
"""What is measured if no geometry is chosen."""


def _of_size(name: str, like: TransformerConfig, vocabulary_size: int, **shape: Any) -> Geometry:
    """The geometry of a model that people use: greedy decoding alone, against CTranslate2 in int8."""
    usual: dict[str, Any] = {"vocabulary_size": vocabulary_size, "tied_output": True, "positions": "learned"}
    return Geometry(name, replace(like, **usual | shape), "greedy", 24, 24, ("ctranslate2-greedy:int8",), batches=_BATCHES)


_LARGE: dict[str, Any] = {"encoder_layers": 12, "decoder_layers": 12, "max_positions": 1024, "position_offset": 2}
_FLAN: dict[str, Any] = {
    "tied_output": False,
    "positions": "relative",
    "reach": 113,
    "norm_kind": "rms",
    "norm_epsilon": 1e-6,
    "biases": False,
    "gated": True,
    "activation": "gelu-tanh",
    "attention_scale": False,
    "embedding_scale": False,
}
REAL_SIZES = (
    _of_size("opus-mt", _BASE, 58_101, norm="post", activation="silu", max_positions=512, output_bias=True),
    _of_size("opus-mt-tc-big", _BIG, 57_835, norm="post", max_positions=1024, output_bias=True),
    _of_size("nllb-600m", _BIG, 256_206, **_LARGE),
    _of_size("bart-large", _BIG, 50_265, norm="post", activation="gelu", embedding_norm=True, embedding_scale=False, **_LARGE),
    _of_size("m2m-418m", _BIG, 128_112, **_LARGE),
    _of_size("mbart-50", _BIG, 250_054, embedding_norm=True, **_LARGE),
    _of_size("flan-t5-base", _BASE, 32_128, width=768, heads=12, feed_forward=2048, encoder_layers=12, decoder_layers=12, **_FLAN),
    _of_size("flan-t5-large", _BIG, 32_128, feed_forward=2816, encoder_layers=24, decoder_layers=24, **_FLAN),
)
"""The sizes of models that people use, with their vocabularies: OPUS-MT, NLLB-200-distilled-600M, BART, M2M-100, mBART-50, Flan-T5."""


def choose_geometries(names: Sequence[str]) -> tuple[Geometry, ...]:
    """The geometries with these names, or GEOMETRIES if there are none. Raises UsageError for an unknown name."""
    known = {each.name: each for each in (*GEOMETRIES, *REAL_SIZES)}
    for name in names:
        if name not in known:
            raise UsageError(f"geometry {name}: not known; known are {', '.join(known)}")
    return tuple(known[name] for name in dict.fromkeys(names)) or GEOMETRIES


def piece(token: int) -> str:
    """The word that stands for the token id `token` in synthetic text, such as "t17"."""
    return f"t{token}"


def make_sources(geometry: Geometry) -> list[str]:
    """Source lines for a model of this geometry: eight, or those of the largest batch.

    Each has SHORTEST to LONGEST words, drawn from its vocabulary with a fixed seed.
    """
    generator = random.Random(0)
    tokens = range(MASK + 1, geometry.shape.vocabulary_size)
    return [
        " ".join(piece(generator.choice(tokens)) for _ in range(generator.randint(SHORTEST, LONGEST)))
        for _ in range(max(_SOURCES, *geometry.batches, 0))
    ]


def accepted_tokens(geometry: Geometry, count: int) -> list[list[int]]:
    """For each of `count` sentences, the numbers of tokens that its rounds emit, the verifier's own tokens included.

    They are drawn with a fixed seed. Each sentence has as many rounds as the geometry says (`rounds`), and the numbers of tokens of its
    rounds add up to the length of the output (`length`).
    """
    generator = random.Random(1)
    return [_split(geometry.length, geometry.rounds, geometry.block_size or geometry.length, generator) for _ in range(count)]


def _split(length: int, rounds: int, block_size: int, generator: random.Random) -> list[int]:
    """Split `length` randomly into `rounds` numbers from 1 to `block_size` + 1."""
    sizes = [1] * rounds
    while sum(sizes) < length:
        sizes[generator.choice([number for number, size in enumerate(sizes) if size <= block_size])] += 1
    return sizes
