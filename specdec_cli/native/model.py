"""Models of the native engine, loaded from a bundle's files."""

import ctypes
import time
from array import array
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from itertools import accumulate, chain
from pathlib import Path
from typing import Any

from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.native.library import FINISHED, HEADER, ROUND, WAITING, check, instruction_set, load_library, model_error
from specdec_cli.native.records import Decoded, DecodedRound, Request, decoded_of, options_of, round_of
from specdec_cli.native.tensors import Named, drafter_tensors, verifier_tensors
from specdec_cli.native.weights import Weights

PATIENCE = 20
"""Milliseconds after which a call of the library returns to Python, so that signals are handled."""


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

    def _create(self, shape: Any, named: Sequence[Sequence[Named]]) -> ctypes.c_void_p:
        for weights, own in zip(self._weights, named, strict=True):
            weights.check_names(dict(own))
        places = [(weights, name) for weights, own in zip(self._weights, named, strict=True) for name, _ in own]
        tensors = (HEADER.structs["tensor"] * len(places))(*(weights.tensor(name) for weights, name in places))
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

    def capacity(self, source_length: int, min_length: int = 0) -> int:
        """The number of positions for an output, decoder start included, of a source with `source_length` tokens, if
        outputs have at least `min_length` tokens.
        """
        return int(self._library.specdec_capacity(self._model, source_length, min_length))

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
        ValueError if `request.word_starts` is neither empty nor has one byte for each token, and with `request.most_copies` if
        `request.forms` does not have four bytes for each token of both vocabularies.
        """
        with self._session(sources, request, with_rounds=onlooker is not None) as session:
            output, due = HEADER.structs["output"](), time.monotonic()
            while (status := check(self._library.specdec_session_next(session, PATIENCE, ctypes.byref(output)))) != FINISHED:
                if time.monotonic() >= due:
                    meanwhile()
                    due = time.monotonic() + PATIENCE / 1000
                if status == ROUND and onlooker is not None:
                    onlooker(round_of(output))
                elif status != WAITING:
                    yield decoded_of(output)

    def times(self, sources: Sequence[Sequence[int]], request: Request) -> tuple[float, float]:
        """Decode sources and return the least milliseconds of the draft of a round and of the rest of a round, over
        all rounds.

        Only rounds of `request.batch` sentences count; 0 if there was no such round. Raises NativeError as `decode`
        does.
        """
        drafting, verifying = ctypes.c_double(), ctypes.c_double()
        with self._session(sources, request) as session:
            output = HEADER.structs["output"]()
            while check(self._library.specdec_session_next(session, PATIENCE, ctypes.byref(output))) != FINISHED:
                pass
            self._library.specdec_session_times(session, ctypes.byref(drafting), ctypes.byref(verifying))
        return drafting.value, verifying.value

    @contextmanager
    def _session(self, sources: Sequence[Sequence[int]], request: Request, *, with_rounds: bool = False) -> Generator[ctypes.c_void_p]:
        flat, places = _flattened(sources)
        if request.word_starts and len(request.word_starts) != self.config.vocabulary_size:
            raise ValueError(f"{len(request.word_starts)} word starts for {self.config.vocabulary_size} tokens")
        if request.most_copies and [*map(len, request.forms)] != [4 * self.config.vocabulary_size, 4 * self.config.source_size]:
            raise ValueError(f"forms of {len(request.forms[0])} and {len(request.forms[1])} bytes")
        if request.decoding == "given-drafts" and not len(request.drafts) == len(request.first_drafts) == len(sources):
            raise ValueError(f"{len(request.drafts)} drafts and {len(request.first_drafts)} bounds for {len(sources)} sources")
        if len(request.prefix_lengths) not in (0, len(sources)):
            raise ValueError(f"{len(request.prefix_lengths)} prefixes for {len(sources)} sources")
        if request.decoding == "input-guided":
            for name, given in (("bounds", request.first_drafts), ("texts", request.drafts)):
                if len(given) not in (0, len(sources)):
                    raise ValueError(f"{len(given)} {name} for {len(sources)} sources")
        if request.recorded and [len(rounds) for rounds in request.recorded] != [len(request.recorded[0])] * len(sources):
            raise ValueError(f"recorded drafts of {len(request.recorded)} sentences for {len(sources)}, or of different numbers of rounds")
        options, session = options_of(request), ctypes.c_void_p()
        options.with_rounds = with_rounds
        if request.decoding == "given-drafts":
            numbers = (array("i", each) for each in (request.first_drafts, request.prefix_lengths or [0] * len(sources)))
            arrays = *_flattened(request.drafts), *numbers
            options.drafts, options.draft_starts, options.first_drafts, options.prefix_lengths = map(_address, arrays)
        elif request.recorded:
            recorded = _flattened([draft for rounds in request.recorded for draft in rounds])
            options.drafts, options.draft_starts = map(_address, recorded)
        elif request.decoding == "input-guided" and request.drafts:
            texts = _flattened(request.drafts)
            options.drafts, options.draft_starts = map(_address, texts)
        if request.decoding == "input-guided" and request.first_drafts:
            bounds = array("i", request.first_drafts)
            options.first_drafts = _address(bounds)
        queue = _address(flat), _address(places), len(sources)
        check(self._library.specdec_session_create(self._model, ctypes.byref(options), *queue, ctypes.byref(session)))
        try:
            yield session
        finally:
            self._library.specdec_session_destroy(session)

    def __del__(self) -> None:
        if hasattr(self, "_model"):
            self._library.specdec_model_destroy(self._model)


def _flattened(texts: Sequence[Sequence[int]]) -> tuple["array[int]", "array[int]"]:
    """The ids of all texts one after the other (int32), and where each text begins and the last one ends (int64). A 0 is
    behind the ids, as an empty array has no address.
    """
    return array("i", chain(*texts, (0,))), array("q", accumulate(map(len, texts), initial=0))


def _address(values: "array[int]") -> int:
    return values.buffer_info()[0]


def shape_of(config: TransformerConfig, drafter: DrafterConfig | None = None) -> Any:
    """Convert the configuration of a model, and that of its drafter, to the C structure of the library."""
    shape = HEADER.structs["shape"](
        source_vocabulary=config.source_size,
        vocabulary=config.vocabulary_size,
        width=config.width,
        feed_forward=config.feed_forward,
        heads=config.heads,
        encoder_layers=config.encoder_layers,
        decoder_layers=config.decoder_layers,
        pre_norm=config.norm == "pre",
        activation=HEADER.enums["activation"][config.activation],
        learned_positions=config.positions == "learned",
        position_offset=config.position_offset,
        max_positions=config.max_positions,
        embedding_scale=config.embedding_scale,
        embedding_norm=config.embedding_norm,
        shared_embeddings=config.shared_embeddings,
        tied_output=config.tied_output,
        output_bias=config.output_bias,
        padding=config.padding,
        eos=config.eos,
        start=config.decoder_start,
    )
    if drafter is not None:
        shape.drafter_layers, shape.drafter_feed_forward = drafter.layers, drafter.feed_forward
        shape.max_block, shape.link_width, shape.candidates = drafter.max_block, drafter.chain, drafter.candidates
        shape.shortlist, shape.mask = drafter.shortlist, drafter.mask
        shape.own_prefix, shape.recurrent_link = drafter.prefix == "own", drafter.recurrent
    return shape
