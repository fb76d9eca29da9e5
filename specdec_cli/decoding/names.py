"""The decodings by name, for every part that must know them before torch is there."""

from collections.abc import Mapping
from typing import Literal

Decoding = Literal[
    "greedy",
    "beam",
    "bidirectional",
    "specdec",
    "specdec++",
    "drafter",
    "blockwise",
    "input-guided",
    "jacobi",
    "gs-jacobi",
    "hybrid-jacobi",
    "lookup",
    "ngram-memory",
]
DrafterKind = Literal["block", "heads"]
Task = Literal["translation", "summarisation", "gec", "simplification"]
Match = Literal["unique", "unique-3", "nearest"]
Stop = Literal["prefix", "fixed-point"]

REWRITING = ("correct", "simplify")
"""Tasks of bundles whose output repeats most of its source, in one language."""
SEARCHES: tuple[Decoding, ...] = ("beam", "bidirectional")
"""What keeps several hypotheses and has a beam size."""
DRAFTER_OF: Mapping[str, DrafterKind] = {"specdec": "block", "specdec++": "block", "drafter": "block", "blockwise": "heads"}
"""The kind of trained drafter that a decoding needs."""
DRAFTS_OF: Mapping[DrafterKind, Decoding] = {"block": "specdec", "heads": "blockwise"}
"""The exact decoding that a trained drafter is for."""
NEEDS_DRAFTER: tuple[Decoding, ...] = ("specdec", "specdec++", "drafter", "blockwise")
"""What only a bundle with a trained drafter can do."""
JACOBI: tuple[Decoding, ...] = ("jacobi", "gs-jacobi", "hybrid-jacobi")
"""What drafts the verifier's own predictions."""
SEARCHING: tuple[Decoding, ...] = ("lookup", "ngram-memory")
"""What drafts from text seen before."""
TO_A_LENGTH: tuple[Decoding, ...] = ("jacobi", "hybrid-jacobi")
"""What drafts up to an expected length of the output."""
DRAFTING: tuple[Decoding, ...] = (*NEEDS_DRAFTER, "input-guided", *JACOBI, *SEARCHING)
"""What proposes tokens, and so has a block size."""
EXACT: tuple[Decoding, ...] = ("greedy", "specdec", "blockwise", "input-guided", *JACOBI, *SEARCHING)
"""What gives greedy's output, unless told to be tolerant."""
TOLERANT: tuple[Decoding, ...] = ("specdec++", "blockwise", "input-guided")
"""What can accept more than the verifier's first choice."""
CHAINABLE: tuple[Decoding, ...] = ("specdec", "blockwise", "input-guided", *JACOBI, *SEARCHING)
"""What can be a part of a chain: the drafters whose output the verifier decides alone."""
UNTRAINED = "lookup,ngram-memory,gs-jacobi"
"""What `auto` is for a bundle that has no drafter: a chain, the first of it that has a draft."""

BEAM_SIZE = 5
"""Hypotheses of beam search where neither the user nor the bundle says how many."""


def parts(decoding: str) -> list[str]:
    """The decodings of a chain, in order; of one that is no chain, itself."""
    return decoding.split(",")
