"""The decodings by name, for every part that must know them before torch is there."""

from typing import Literal

Decoding = Literal["greedy", "beam", "specdec", "specdec++", "drafter", "input-guided"]
Task = Literal["translation", "gec", "simplification"]
Match = Literal["unique", "nearest"]

NEEDS_DRAFTER: tuple[Decoding, ...] = ("specdec", "specdec++", "drafter")
"""What only a bundle with a trained drafter can do."""
DRAFTING: tuple[Decoding, ...] = (*NEEDS_DRAFTER, "input-guided")
"""What proposes tokens, and so has a block size."""
EXACT: tuple[Decoding, ...] = ("greedy", "specdec", "input-guided")
"""What gives greedy's output, unless told to be tolerant."""
TOLERANT: tuple[Decoding, ...] = ("specdec++", "input-guided")
"""What can accept more than the verifier's first choice."""
