"""The options of a decoding, as the user gives them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Literal

from specdec_cli.decoding.names import OptionValue
from specdec_cli.errors import UsageError

Number = int | Literal["auto"] | None
RANGES: dict[str, tuple[float, float]] = {
    "block_size": (1, 1024),
    "top_beta": (1, 1024),
    "tolerance": (0.0, inf),
    "beam_size": (1, 1024),
    "length_penalty": (-10.0, 10.0),
}
"""Smallest and largest valid value of each numeric option; beyond them numbers overflow, or no memory is large
enough.
"""


@dataclass(frozen=True)
class DecodingRequest:
    """The options of a decoding as the user gives them. None, and "auto" as `decoding`, stand for the bundle's
    default, or else for the toolkit's.

    `block_size` is the largest number of drafted tokens; "auto" chooses it in each round, up to the default.
    `tolerance` is in nats. `options` are the values of the options that only some decodings have, by name.
    `max_length` is the largest number of tokens of an output (None: the bundle's, or what fits the model). `memory`
    limits the size of batches, in bytes (0: no limit). `with_scores` asks for log probabilities. `always_draft`
    keeps drafts of the full block size even where they make decoding slower, so that they can be shown. With `whole`, sentences are
    not cut because of the bundle's `longest_sentence`. `mode` is the mode of a correction, which may have a margin ("": none).
    """

    decoding: str = "auto"
    block_size: Number = None
    top_beta: int | None = None
    tolerance: float | None = None
    preset: str | None = None
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    beam_size: int | None = None
    length_penalty: float | None = None
    n_best: int = 1
    max_length: int | None = None
    batch_size: int = 1
    memory: int = 0
    with_scores: bool = False
    always_draft: bool = False
    whole: bool = False
    mode: str = ""

    @property
    def tolerant(self) -> bool:
        """Whether a tolerant acceptance rule is requested, by `top_beta`, `tolerance` or a preset other than
        "exact".
        """
        return self.top_beta is not None or self.tolerance is not None or self.preset not in (None, "exact")

    @property
    def searching(self) -> bool:
        """Whether beam search is requested, by `beam_size`, `length_penalty` or more than one hypothesis."""
        return self.beam_size is not None or self.length_penalty is not None or self.n_best > 1


def check_ranges(request: DecodingRequest) -> None:
    """Raise UsageError if a numeric option of `request` is NaN or outside its range in RANGES."""
    for name, (low, high) in RANGES.items():
        value = getattr(request, name)
        if isinstance(value, int | float) and not low <= value <= high:
            raise UsageError(f"{name.replace('_', ' ')} {value}: a number from {low} to {high} is expected")
