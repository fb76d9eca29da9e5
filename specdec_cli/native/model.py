"""Models of the native engine, loaded from a bundle's files."""

import ctypes
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from specdec_cli.model.bundle_info import BeamStop
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.native.library import (
    ACTIVATIONS,
    DECODINGS,
    FINISHED,
    MATCHES,
    ROUND,
    STOPS,
    WAITING,
    Options,
    Output,
    Shape,
    Tensor,
    check,
    instruction_set,
    load_library,
    model_error,
)
from specdec_cli.native.tensors import Named, drafter_tensors, verifier_tensors
from specdec_cli.native.weights import Weights

PATIENCE = 20
"""Milliseconds after which a call of the library returns to Python, so that signals are handled."""


@dataclass(frozen=True)
class Request:
    """Options of a decoding by the native engine, with the meanings of the fields of `struct specdec_options`.

    `batch` is the number of sentences that a thread decodes together. 0 means no limit for `block_size`, the model's
    limit for `max_length`, and the exact rule for `top_beta`. `word_starts` has the byte 1 for each token that
    begins a word, else 0. `adaptive` is the address of statistics (`tuning.native_block_size`), which must outlive
    the decoding. `drafts` are the texts for decoding "given-drafts", one for each source: target ids that end with
    EOS. `first_drafts` bounds the first draft of each, in tokens (0: no limit).
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
    adaptive: ctypes.c_void_p | None = None
    drafts: Sequence[Sequence[int]] = ()
    first_drafts: Sequence[int] = ()
    beam_size: int = 1
    n_best: int = 1
    stop: BeamStop = "heuristic"
    length_penalty: float = 1.0


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


class NativeModel:
    """A verifier of shape `config` with the weights in the file `path`. If `drafter_path` is given, the block
    drafter with the configuration `drafter` and the weights in that file is loaded too; without it, `drafter` has no
    effect.

    Raises ModelError for weights that do not match the configuration, UsageError for an instruction set in
    SPECDEC_ISA that the machine does not have, and LibraryError if the library cannot be loaded.
    """

    def __init__(
        self, config: TransformerConfig, path: Path, drafter: DrafterConfig | None = None, drafter_path: Path | None = None
    ) -> None:
        self._library = load_library()
        self.config = config
        self._weights = [Weights(path)]
        named = [list(verifier_tensors(config))]
        if drafter is not None and drafter_path is not None:
            self._weights.append(Weights(drafter_path))
            named.append(list(drafter_tensors(drafter, config)))
        self._model = self._create(shape_of(config, drafter if drafter_path is not None else None), named)

    def _create(self, shape: Shape, named: Sequence[Sequence[Named]]) -> ctypes.c_void_p:
        for weights, own in zip(self._weights, named, strict=True):
            weights.check_names(dict(own))
        places = [(weights, name) for weights, own in zip(self._weights, named, strict=True) for name, _ in own]
        tensors = (Tensor * len(places))(*(weights.tensor(name) for weights, name in places))
        model, damaged = ctypes.c_void_p(), ctypes.c_int64()
        status = self._library.specdec_model_create(
            ctypes.byref(shape), tensors, len(tensors), instruction_set(), ctypes.byref(model), ctypes.byref(damaged)
        )
        if status:
            blamed = places[damaged.value] if 0 <= damaged.value < len(places) else None
            raise model_error(status, f"{blamed[0].path}: {blamed[1]!r}" if blamed else str(self._weights[0].path))
        return model

    @property
    def instructions(self) -> str:
        """The name of the instruction set that the library uses."""
        return str(self._library.specdec_model_isa(self._model).decode())

    def capacity(self, source_length: int) -> int:
        """The number of positions for an output, decoder start included, of a source with `source_length` tokens."""
        return int(self._library.specdec_capacity(self._model, source_length))

    def decode(
        self,
        sources: Sequence[Sequence[int]],
        request: Request,
        meanwhile: Callable[[], None] = lambda: None,
        onlooker: Callable[[DecodedRound], None] | None = None,
    ) -> Generator[Decoded]:
        """Decode sources (ids ending with EOS), and yield each sentence as soon as it is done, in any order.

        `onlooker` is called with each round of each sentence, before the sentence is yielded. `meanwhile` is called
        about every 20 milliseconds (PATIENCE); an exception that it raises ends the decoding.
        Raises NativeError for a source that is empty, too long or has unknown ids, and for options out of range;
        ValueError if `request.word_starts` is neither empty nor has one byte for each token.
        """
        with self._session(sources, request, with_rounds=onlooker is not None) as session:
            output, due = Output(), time.monotonic()
            while (status := check(self._library.specdec_session_next(session, PATIENCE, ctypes.byref(output)))) != FINISHED:
                if time.monotonic() >= due:
                    meanwhile()
                    due = time.monotonic() + PATIENCE / 1000
                if status == ROUND and onlooker is not None:
                    taken, drafted = output.length, output.drafted
                    onlooker(DecodedRound(output.number, output.ids[:taken], output.ids[taken : taken + drafted]))
                elif status != WAITING:
                    yield _decoded(output)

    def times(self, sources: Sequence[Sequence[int]], request: Request) -> tuple[float, float]:
        """Decode sources and return the least milliseconds of the draft of a round and of the rest of a round, over
        all rounds.

        Only rounds of `request.batch` sentences count; 0 if there was no such round. Raises NativeError as `decode`
        does.
        """
        drafting, verifying = ctypes.c_double(), ctypes.c_double()
        with self._session(sources, request) as session:
            while check(self._library.specdec_session_next(session, PATIENCE, ctypes.byref(Output()))) != FINISHED:
                pass
            self._library.specdec_session_times(session, ctypes.byref(drafting), ctypes.byref(verifying))
        return drafting.value, verifying.value

    @contextmanager
    def _session(self, sources: Sequence[Sequence[int]], request: Request, *, with_rounds: bool = False) -> Generator[ctypes.c_void_p]:
        flat, places = _flattened(sources)
        if request.word_starts and len(request.word_starts) != self.config.vocabulary_size:
            raise ValueError(f"{len(request.word_starts)} word starts for {self.config.vocabulary_size} tokens")
        if request.decoding == "given-drafts" and not len(request.drafts) == len(request.first_drafts) == len(sources):
            raise ValueError(f"{len(request.drafts)} drafts and {len(request.first_drafts)} bounds for {len(sources)} sources")
        options, session = _options(request), ctypes.c_void_p()
        options.with_rounds = with_rounds
        if request.decoding == "given-drafts":
            arrays = *_flattened(request.drafts), (ctypes.c_int32 * len(sources))(*request.first_drafts)
            options.drafts, options.draft_starts, options.first_drafts = (ctypes.cast(each, ctypes.c_void_p) for each in arrays)
        check(self._library.specdec_session_create(self._model, ctypes.byref(options), flat, places, len(sources), ctypes.byref(session)))
        try:
            yield session
        finally:
            self._library.specdec_session_destroy(session)

    def __del__(self) -> None:
        if hasattr(self, "_model"):
            self._library.specdec_model_destroy(self._model)


def _flattened(texts: Sequence[Sequence[int]]) -> tuple[ctypes.Array[ctypes.c_int32], ctypes.Array[ctypes.c_int64]]:
    """The ids of all texts one after the other, and where each text begins and the last one ends."""
    starts = [0]
    for ids in texts:
        starts.append(starts[-1] + len(ids))
    return (ctypes.c_int32 * starts[-1])(*(token for ids in texts for token in ids)), (ctypes.c_int64 * len(starts))(*starts)


def _decoded(output: Output) -> Decoded:
    scores = tuple(output.log_probabilities[: output.length]) if output.log_probabilities else ()
    found = tuple(Ranked(each.ids[: each.length], each.log_probability, each.score) for each in output.hypotheses[: output.count])
    return Decoded(output.number, output.ids[: output.length], scores, output.rounds, bool(output.drafted), found)


def _options(request: Request) -> Options:
    return Options(
        DECODINGS[request.decoding],
        MATCHES[request.match],
        request.block_size,
        request.batch,
        request.threads,
        request.max_length,
        -1 if request.forced is None else request.forced,
        request.with_scores,
        request.shared_vocabulary,
        request.top_beta,
        request.tolerance,
        0,  # with_rounds
        request.beam_size,
        request.n_best,
        STOPS[request.stop],
        request.length_penalty,
        ctypes.cast(ctypes.c_char_p(request.word_starts), ctypes.c_void_p) if request.word_starts else None,
        request.adaptive,
    )


def shape_of(config: TransformerConfig, drafter: DrafterConfig | None = None) -> Shape:
    """Convert the configuration of a model, and that of its drafter, to the C structure of the library."""
    own = (0, 0, 0, 0, 0, 0, 0)
    if drafter is not None:
        sizes = (drafter.layers, drafter.feed_forward, drafter.max_block, drafter.chain)
        own = (*sizes, drafter.candidates, drafter.shortlist, drafter.mask)
    return Shape(
        *(config.source_size, config.vocabulary_size, config.width, config.feed_forward, config.heads),
        *(config.encoder_layers, config.decoder_layers, config.norm == "pre", ACTIVATIONS[config.activation]),
        *(config.positions == "learned", config.position_offset, config.max_positions, config.embedding_scale),
        *(config.embedding_norm, config.shared_embeddings, config.tied_output, config.output_bias),
        *(config.padding, config.eos, config.decoder_start),
        *own,
    )
