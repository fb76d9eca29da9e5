"""The shape of a Transformer, and named presets of it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, Self, TypeVar, get_args, get_origin, get_type_hints

from specdec_cli.errors import ModelError

T = TypeVar("T")
Norm = Literal["pre", "post"]
Activation = Literal["relu", "gelu", "silu"]
Positions = Literal["sinusoidal", "learned"]


@dataclass(frozen=True)
class TransformerConfig:
    """An encoder-decoder Transformer (Vaswani et al. 2017) and the variants that trained models come in.

    `position_offset` is the row of the position table that the first token reads. Sizes are in units;
    `width` must be a multiple of `heads`, and of 16 so that arithmetic does not depend on a ragged tail.
    A `source_vocabulary_size` of 0 says that source and target share their vocabulary.
    Raises ModelError for sizes that do not fit each other and for an unknown variant.
    """

    vocabulary_size: int
    width: int = 512
    feed_forward: int = 2048
    heads: int = 8
    encoder_layers: int = 6
    decoder_layers: int = 6
    norm: Norm = "pre"
    activation: Activation = "relu"
    positions: Positions = "sinusoidal"
    position_offset: int = 0
    max_positions: int = 256
    embedding_scale: bool = True
    embedding_norm: bool = False
    shared_embeddings: bool = True
    tied_output: bool = True
    output_bias: bool = False
    padding: int = 0
    eos: int = 3
    decoder_start: int = 2
    source_vocabulary_size: int = 0

    def __post_init__(self) -> None:
        if self.source_vocabulary_size and self.shared_embeddings:
            raise ModelError("a source vocabulary of its own needs embeddings of its own (shared_embeddings)")
        if self.heads < 1 or self.width % self.heads or self.width % 16 or self.feed_forward % 16:
            raise ModelError(
                f"width {self.width} and feed_forward {self.feed_forward} must be multiples of 16, "
                f"and the width a multiple of {self.heads} heads"
            )

    @property
    def source_size(self) -> int:
        """Pieces of the source vocabulary."""
        return self.source_vocabulary_size or self.vocabulary_size

    @property
    def head_width(self) -> int:
        """Units of one attention head."""
        return self.width // self.heads

    def to_dict(self) -> dict[str, Any]:
        """All fields, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`. Raises ModelError naming an unknown or missing key."""
        return config_from_dict(cls, values)


def config_from_dict(kind: type[T], values: Mapping[str, Any]) -> T:
    """Build a configuration dataclass from JSON or TOML. Raises ModelError naming an unknown, missing or wrong key."""
    known = {f.name for f in fields(kind)}  # type: ignore[arg-type]
    unknown = sorted(set(values) - known)
    if unknown:
        raise ModelError(f"unknown key {unknown[0]!r}; known are {', '.join(sorted(known))}")
    hints = get_type_hints(kind)
    for name, value in values.items():
        if not _fits(value, hints[name]):
            choices = " or ".join(get_args(hints[name])) if get_origin(hints[name]) is Literal else hints[name].__name__
            raise ModelError(f"{name} is {choices}, not {value!r}")
    try:
        return kind(**values)
    except TypeError as error:
        raise ModelError(str(error)) from error


def _fits(value: object, hint: Any) -> bool:
    """Whether a plain value is of a plain type; other types are taken on trust."""
    if get_origin(hint) is Literal:
        return value in get_args(hint)
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return not isinstance(hint, type) or hint not in (str, bool) or isinstance(value, hint)


_BASE = TransformerConfig(vocabulary_size=32768)
PRESETS: dict[str, TransformerConfig] = {
    "base": _BASE,
    "big": replace(_BASE, width=1024, feed_forward=4096, heads=16),
    "deep-shallow": replace(_BASE, encoder_layers=12, decoder_layers=2),
    "small": replace(_BASE, width=384, feed_forward=1536, heads=6, encoder_layers=6, decoder_layers=2),
}


def preset(name: str, vocabulary_size: int, **changes: Any) -> TransformerConfig:
    """The preset `name` with another vocabulary. Raises ModelError for an unknown name or field."""
    if name not in PRESETS:
        raise ModelError(f"unknown preset {name!r}; known are {', '.join(PRESETS)}")
    return config_from_dict(TransformerConfig, PRESETS[name].to_dict() | changes | {"vocabulary_size": vocabulary_size})
