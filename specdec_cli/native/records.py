"""Requests to the native engine and its results, converted to and from the C structures of the library."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from specdec_cli.model.bundle_info import BeamStop
from specdec_cli.native.library import HEADER


@dataclass(frozen=True)
class Request:
    """Options of a decoding by the native engine, with the meanings of the fields of `struct specdec_options`.

    `batch` is the number of sentences that a thread decodes together. 0 means no limit for `block_size`, the
    model's limit for `max_length`, and the exact rule for `top_beta`. `word_starts` has the byte 1 for each token
    that begins a word, else 0; `forms` has an int32 for each target token, and for each source token (`forms_of`).
    `adaptive` is the address of statistics (`tuning.native_block_size`), which must outlive the decoding. `drafts`
    are the texts for decoding "given-drafts", one for each source: target ids that end with EOS; for "input-guided",
    those that are copied in place of the sources, or none. `first_drafts` bounds the first draft of each, in tokens
    (0: no limit), also for decoding "input-guided", where it may be empty; `prefix_lengths` are the numbers of tokens
    at the start of each that are taken without being verified.
    `memory` is the address of an NgramMemory, for decoding "ngram-memory", which must outlive the decoding.
    `recorded` are drafts that replace those of the drafter, for measurements: as many for each source, one for each
    round.
    """

    decoding: str = "greedy"
    match: str = "nearest"
    block_size: int = 0
    batch: int = 1
    threads: int = 1
    max_length: int = 0
    forced: int | None = None
    with_scores: bool = False
    shared_vocabulary: bool = True
    word_starts: bytes = b""
    top_beta: int = 0
    tolerance: float = 0.0
    margin: float = 0.0
    adaptive: ctypes.c_void_p | None = None
    memory: ctypes.c_void_p | None = None
    drafts: Sequence[Sequence[int]] = ()
    first_drafts: Sequence[int] = ()
    prefix_lengths: Sequence[int] = ()
    beam_size: int = 1
    n_best: int = 1
    stop: BeamStop = "heuristic"
    length_penalty: float = 1.0
    min_length: int = 0
    no_repeat_ngram_size: int = 0
    source_ngram_size: int = 0
    repetition_penalty: float = 1.0
    forced_end: bool = False
    most_copies: int = 0
    forms: tuple[bytes, bytes] = (b"", b"")
    recorded: Sequence[Sequence[Sequence[int]]] = ()


@dataclass(frozen=True)
class Ranked:
    """One of the n best outputs of beam search for a sentence: its ids, its log probability, and the score by which
    it is ranked.
    """

    ids: list[int]
    log_probability: float
    score: float


@dataclass(frozen=True)
class Decoded:
    """A decoded sentence: its index in the sources, from 0, its ids (ending with EOS unless a limit cut it), and its
    number of rounds.

    `log_probabilities` has one value per id; it is empty if they were not requested. `drafted` is False if the
    sentence was decoded without drafts. `alternatives` are the n best outputs of beam search, best first.
    """

    number: int
    ids: list[int]
    log_probabilities: tuple[float, ...]
    rounds: int
    drafted: bool = False
    alternatives: tuple[Ranked, ...] = ()


@dataclass(frozen=True)
class DecodedRound:
    """A round of a sentence: the sentence's index in the sources, from 0, the ids that the round took, and those that
    had been drafted.

    All ids that it took but the last are accepted drafts, unless a limit cut the output; with the tolerant rule too.
    """

    number: int
    taken: list[int]
    drafted: list[int]


def decoded_of(output: Any) -> Decoded:
    """The decoded sentence in the C structure `output`."""
    scores = _values(ctypes.c_float, output.log_probabilities, output.length) if output.log_probabilities else ()
    hypotheses = _values(HEADER.structs["hypothesis"], output.hypotheses, output.count)
    ranked = tuple(Ranked(_values(ctypes.c_int32, each.ids, each.length), each.log_probability, each.score) for each in hypotheses)
    ids = _values(ctypes.c_int32, output.ids, output.length)
    return Decoded(output.number, ids, tuple(scores), output.rounds, bool(output.drafted), ranked)


def round_of(output: Any) -> DecodedRound:
    """The round in the C structure `output`."""
    ids = _values(ctypes.c_int32, output.ids, output.length + output.drafted)
    return DecodedRound(output.number, ids[: output.length], ids[output.length :])


def _values(kind: Any, address: int | None, count: int) -> list[Any]:
    """The `count` values of the type `kind` that begin at `address`, copied unless they are structures."""
    return list((kind * count).from_address(address)) if count else []


def _address(flags: bytes) -> ctypes.c_void_p | None:
    return ctypes.cast(ctypes.c_char_p(flags), ctypes.c_void_p) if flags else None


def options_of(request: Request) -> Any:
    """The C structure for `request`, without rounds and drafts; `request` must outlive it."""
    enums = HEADER.enums
    return HEADER.structs["options"](
        method=enums["method"][request.decoding],
        match=enums["match"][request.match],
        block_size=request.block_size,
        batch=request.batch,
        threads=request.threads,
        max_length=request.max_length,
        forced=-1 if request.forced is None else request.forced,
        with_scores=request.with_scores,
        shared_vocabulary=request.shared_vocabulary,
        top_beta=request.top_beta,
        tolerance=request.tolerance,
        margin=request.margin,
        beam_size=request.beam_size,
        n_best=request.n_best,
        stop=enums["stop"][request.stop],
        min_length=request.min_length,
        no_repeat_ngram_size=request.no_repeat_ngram_size,
        source_ngram_size=request.source_ngram_size,
        forced_end=request.forced_end,
        most_copies=request.most_copies,
        repetition_penalty=request.repetition_penalty,
        recorded=len(request.recorded[0]) if request.recorded else 0,
        length_penalty=request.length_penalty,
        word_starts=_address(request.word_starts),
        forms=_address(request.forms[0]),
        source_forms=_address(request.forms[1]),
        adaptive=request.adaptive,
        memory=request.memory,
    )
