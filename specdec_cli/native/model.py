"""Models of the native engine, loaded from a bundle's files."""

import ctypes
import time
from array import array
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, Protocol

from specdec_cli.decoding.lengths import Lengths
from specdec_cli.decoding.methods import GIVEN
from specdec_cli.decoding.options import Constraints, Decoding, FixedPoint, Sampled
from specdec_cli.decoding.sentence import Alternative, Hypothesis, Sentence
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.native.header import fill
from specdec_cli.native.library import FINISHED, HEADER, ROUND, WAITING, check, instruction_set, load_library, model_error
from specdec_cli.native.tensors import Named, drafter_tensors, unread_tensors, verifier_tensors
from specdec_cli.native.weights import Weights

FIRST_COPY = 11
"""Tokens of the first draft of input-guided decoding at most, where the length of drafts adapts. A rejected token costs about a
fourth of a round here, so that a sentence with errors takes less time if it is not copied as a whole.
"""
PATIENCE = 20
"""Milliseconds after which a call of the library returns to Python, so that signals are handled."""
_MOST_TOKENS = 2**31 - 1


class OtherModel(Protocol):
    """Protocol of a model that drafts for another one: see native/draft_model.py."""

    def set_options(self, options: Any) -> None:
        """Set the draft model in the C structure of options; what it points to belongs to this object."""

    def sources(self, sentences: Sequence[Sentence]) -> list[Sequence[int]]:
        """The source ids of each sentence for the draft model; no ids for a sentence that it cannot read."""


@dataclass(frozen=True)
class Resources:
    """What a decoding needs besides its options.

    - `threads`: the number of threads; each decodes a batch, or all share one sentence if the batch size is 1.
    - `shared_vocabulary`: whether ids of source and output mean the same tokens.
    - `word_starts`: the byte 1 for each token that begins a word, else 0; for copies by the rule "nearest".
    - `adaptive`: the address of statistics that choose the number of drafted tokens (`engines.native_costs`).
    - `memory`: the address of an NgramMemory, for the method "ngram-memory".
    - `lengths`: where the drafts of Jacobi decoding end; None for the longest output that is possible.
    - `draft_model`: the model that drafts, for the method "draft-model".
    - `recorded`: for measurements, drafts by source, one for each round and as many for each source, which replace those of the drafter.

    What has an address must outlive the decoding.
    """

    threads: int = 1
    shared_vocabulary: bool = True
    word_starts: bytes = b""
    adaptive: ctypes.c_void_p | None = None
    memory: ctypes.c_void_p | None = None
    lengths: Lengths | None = None
    draft_model: "OtherModel | None" = None
    recorded: Mapping[tuple[int, ...], Sequence[Sequence[int]]] = field(default_factory=dict)


@dataclass(frozen=True)
class DecodedRound:
    """A round of a sentence: the index of the sentence among those that are decoded together, the ids that the round took, those that
    had been drafted, those that the verifier chose at their positions and after them, and whether the sentence ended.

    All ids that it took but the last are accepted drafts, unless a limit cut the output; with the tolerant rule too.
    """

    number: int
    taken: list[int]
    drafted: list[int]
    predicted: list[int]
    ended: bool


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
            weights.check_names(dict(own) | (dict(unread_tensors(self.config)) if weights is self._weights[0] else {}))
        places = [(weights, name) for weights, own in zip(self._weights, named, strict=True) for name, _ in own]
        tensors = (HEADER.structs["tensor"] * len(places))(*(weights.tensor(name) for weights, name in places))
        model, damaged = ctypes.c_void_p(), ctypes.c_int64()
        status = self._library.specdec_model_create(
            ctypes.byref(shape), tensors, len(tensors), instruction_set().encode(), ctypes.byref(model), ctypes.byref(damaged)
        )
        if status:
            blamed = places[damaged.value] if 0 <= damaged.value < len(places) else None
            raise model_error(status, f"{blamed[0].path}: {blamed[1]!r}" if blamed else str(self._weights[0].path))
        return model

    @property
    def address(self) -> ctypes.c_void_p:
        """The pointer of the C structure."""
        return self._model

    @property
    def has_drafter(self) -> bool:
        """Whether a drafter was loaded."""
        return len(self._weights) > 1

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
        sentences: Sequence[Sentence],
        decoding: Decoding,
        resources: Resources,
        meanwhile: Callable[[], None] = lambda: None,
        onlooker: Callable[[DecodedRound], None] | None = None,
    ) -> Generator[Hypothesis]:
        """Decode sentences, and yield a hypothesis for each as soon as it is done, in any order.

        The method is one of the library's (`enum specdec_method`). `onlooker` is called with each round of each sentence, before its
        hypothesis is yielded; a round has the index of its sentence in `sentences`. `meanwhile` is called about every 20 milliseconds
        (PATIENCE); an exception that it raises ends the decoding. Raises NativeError for a source that is empty, too long or has
        unknown ids, and for an option that is out of its range.
        """
        with self._session(sentences, decoding, resources, with_rounds=onlooker is not None) as session:
            output, due = HEADER.structs["output"](), time.monotonic()
            while (status := check(self._library.specdec_session_next(session, PATIENCE, ctypes.byref(output)))) != FINISHED:
                if time.monotonic() >= due:
                    meanwhile()
                    due = time.monotonic() + PATIENCE / 1000
                if status == ROUND and onlooker is not None:
                    onlooker(_round_of(output))
                elif status != WAITING:
                    yield _hypothesis_of(output, sentences[output.number].number, decoding)

    def times(self, sentences: Sequence[Sentence], decoding: Decoding, resources: Resources, rounds: int) -> tuple[float, float]:
        """Decode at most `rounds` rounds of sentences, and return the least milliseconds of the draft of a round and of the rest of a
        round. The first call of the library encodes the sentences.

        Only rounds of `decoding.batch_size` sentences count; 0 if there was no such round. Raises NativeError as `decode`
        does.
        """
        drafting, verifying = ctypes.c_double(), ctypes.c_double()
        with self._session(sentences, decoding, resources) as session:
            output = HEADER.structs["output"]()
            for _ in range(rounds + 1):  # without patience, a call is a round
                if check(self._library.specdec_session_next(session, 0, ctypes.byref(output))) == FINISHED:
                    break
            self._library.specdec_session_times(session, ctypes.byref(drafting), ctypes.byref(verifying))
        return drafting.value, verifying.value

    def keys_size(self, positions: int) -> int:
        """The number of floats that the keys and values of all layers of the decoder have at `positions` positions of a row."""
        return int(self._library.specdec_keys_size(self._model, positions))

    def encode(self, rows: Any) -> None:
        """Encode sources; `rows` is the C structure of that name, with addresses of arrays. Raises NativeError, which names the value
        that is out of its range.
        """
        self._run(self._library.specdec_encode, ctypes.byref(rows))

    def run_decoder(self, rows: Any) -> None:
        """Run the decoder's layers over some positions of some rows; as `encode`."""
        self._run(self._library.specdec_pass, ctypes.byref(rows))

    def project(self, threads: int, count: int, states: int, logits: int) -> None:
        """Project `count` states to logits. The last two are addresses of arrays: states (count, W), logits (count, V)."""
        self._run(self._library.specdec_project, threads, count, states, logits)

    def verify(self, rows: Any) -> None:
        """Run the decoder over the last token and the draft of some rows, and choose tokens there; `rows` is the C structure
        `verification`. Raises NativeError, which names the value that is out of its range.
        """
        self._run(self._library.specdec_verify, ctypes.byref(rows))

    def extend(self, rows: Any, count: int, written: int) -> None:
        """Choose `count` more tokens for each row, one after the other; `rows` is as for `verify`. `written` is the address of an array
        (B, count) of int64, which gets them. Raises NativeError as `verify` does.
        """
        self._run(self._library.specdec_extend, ctypes.byref(rows), count, written)

    def normalizers(self, count: int, size: int, logits: int, tops: int, log_totals: int) -> None:
        """What turns logits into log probabilities: of each of `count` rows of `size` logits the largest, and the logarithm of the sum
        of the exponentials of their differences to it. The last three are addresses of arrays.
        """
        self._library.specdec_normalizers(self._model, count, size, logits, tops, log_totals)

    def log_probabilities(self, count: int, size: int, logits: int, ids: int, to: int) -> None:
        """The log probability of an id by each of `count` rows of `size` logits. The last three are addresses of arrays."""
        check(self._library.specdec_log_probabilities(self._model, count, size, logits, ids, to))

    def _run(self, function: Callable[..., int], *arguments: Any) -> None:
        fault = ctypes.c_char_p()
        check(function(self._model, *arguments, ctypes.byref(fault)), fault.value)

    @contextmanager
    def _session(
        self, sentences: Sequence[Sentence], decoding: Decoding, resources: Resources, *, with_rounds: bool = False
    ) -> Generator[ctypes.c_void_p]:
        options, session, fault = options_of(decoding, resources), ctypes.c_void_p(), ctypes.c_char_p()
        options.with_rounds = with_rounds
        queue, _arrays = queue_of(sentences, decoding, resources)
        status = self._library.specdec_session_create(
            self._model, ctypes.byref(options), ctypes.byref(queue), ctypes.byref(session), ctypes.byref(fault)
        )
        check(status, fault.value)
        try:
            yield session
        finally:
            self._library.specdec_session_destroy(session)

    def __del__(self) -> None:
        if hasattr(self, "_model"):
            self._library.specdec_model_destroy(self._model)


def options_of(decoding: Decoding, resources: Resources) -> Any:
    """The C structure of the options of a decoding; what it points to belongs to `decoding` and `resources`."""
    options = fill(HEADER.structs["options"](), decoding, HEADER.enums)
    options.max_length = min(decoding.max_length, _MOST_TOKENS)
    options.acceptance.whole = isinstance(decoding.acceptance, FixedPoint)
    options.threads, options.shared_vocabulary = resources.threads, resources.shared_vocabulary
    options.adaptive, options.memory = resources.adaptive, resources.memory
    options.word_starts = _bytes(resources.word_starts)
    if resources.draft_model is not None:
        resources.draft_model.set_options(options)
    set_constraints(options.constraints, decoding.constraints)
    return options


def set_constraints(struct: Any, constraints: Constraints) -> Any:
    """Set the C structure of constraints, and return it; what it points to belongs to `constraints`."""
    fill(struct, constraints, HEADER.enums)
    if constraints.forced is None:
        struct.forced = -1
    struct.forms, struct.source_forms = map(_bytes, constraints.forms)
    return struct


def queue_of(sentences: Sequence[Sentence], decoding: Decoding, resources: Resources) -> tuple[Any, Sequence[Any]]:
    """The C structure of the queue of sentences, and the arrays to which it points."""
    queue, arrays = HEADER.structs["queue"](count=len(sentences)), []

    def add(name: str, values: "array[int]") -> None:
        arrays.append(values)
        setattr(queue, name, values.buffer_info()[0])

    def add_texts(name: str, starts: str, texts: Sequence[Sequence[int]]) -> None:
        add(name, array("i", chain(*texts, (0,))))  # a 0 is behind the ids, as an empty array has no address
        add(starts, array("q", accumulate(map(len, texts), initial=0)))

    add_texts("ids", "starts", [sentence.source for sentence in sentences])
    if decoding.method == GIVEN:
        add_texts("texts", "text_starts", [sentence.draft for sentence in sentences])
        add("first_drafts", array("i", [*(sentence.first for sentence in sentences), 0]))
        add("prefix_lengths", array("i", [*(sentence.prefix for sentence in sentences), 0]))
    elif decoding.method == "input-guided":
        if any(sentence.copy for sentence in sentences):
            add_texts("texts", "text_starts", [sentence.copy or sentence.source for sentence in sentences])
        if decoding.tidies_copies:
            add("first_drafts", array("i", [FIRST_COPY] * (len(sentences) + 1)))
    if resources.lengths is not None:
        lengths = (min(resources.lengths(sentence.source), _MOST_TOKENS) for sentence in sentences)
        add("lengths", array("i", [*lengths, 0]))
    if resources.draft_model is not None:
        add_texts("draft_ids", "draft_starts", resources.draft_model.sources(sentences))
    if isinstance(decoding.acceptance, Sampled):
        add("streams", array("I", [*chain(*(sentence.stream for sentence in sentences)), 0]))
    if resources.recorded:
        recorded = [resources.recorded.get(tuple(sentence.source), ()) for sentence in sentences]
        numbers = {len(rounds) for rounds in recorded}
        if len(numbers) != 1:
            raise ValueError(f"recorded drafts of different numbers of rounds: {sorted(numbers)}")
        (queue.recorded_rounds,) = numbers
        add_texts("recorded", "recorded_starts", [draft for rounds in recorded for draft in rounds])
    return queue, arrays


def _hypothesis_of(output: Any, number: int, decoding: Decoding) -> Hypothesis:
    """The hypothesis for the sentence `number` in the C structure `output`."""
    ids, method = _values(ctypes.c_int32, output.ids, output.length), decoding.method if output.drafted else "greedy"
    if output.count:
        hypotheses = _values(HEADER.structs["hypothesis"], output.hypotheses, output.count)
        found = tuple(Alternative(_values(ctypes.c_int32, each.ids, each.length), each.log_probability, each.score) for each in hypotheses)
        return Hypothesis(number, ids, output.rounds, found[0].log_probability, found, (), method)
    scores = tuple(_values(ctypes.c_float, output.log_probabilities, output.length)) if output.log_probabilities else ()
    return Hypothesis(number, ids, output.rounds, sum(scores) if decoding.with_scores else None, (), scores, method)


def _round_of(output: Any) -> DecodedRound:
    """The round in the C structure `output`."""
    taken, drafted = output.length, output.length + output.drafted
    ids = _values(ctypes.c_int32, output.ids, drafted + output.drafted + 1)
    return DecodedRound(output.number, ids[:taken], ids[taken:drafted], ids[drafted:], bool(output.count))


def _values(kind: Any, address: int | None, count: int) -> list[Any]:
    """The `count` values of the type `kind` that begin at `address`, copied unless they are structures."""
    return list((kind * count).from_address(address)) if count else []


def _bytes(values: bytes) -> int | None:
    """The address of bytes; None for none."""
    return ctypes.cast(ctypes.c_char_p(values), ctypes.c_void_p).value if values else None


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
        positions=HEADER.enums["positions"][config.positions],
        attention_width=config.heads_width,
        attention_scale=config.attention_scale,
        reach=config.reach,
        layer_biases=config.layer_biases,
        rms_norm=config.norm_kind == "rms",
        biases=config.biases,
        gated=config.gated,
        norm_epsilon=config.norm_epsilon,
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


class NgramMemory:
    """Continuations of the tokens and pairs of tokens in all outputs decoded so far, for `workers` threads that decode
    a batch each; each thread has its own.

    The memory and its drafts are those of `decoding.drafters.suffix.NgramMemory`. One decoding at a time may use it.
    `address` is the pointer of the C structure, for `Request.memory`. Raises NativeError for values out of range.
    """

    def __init__(self, vocabulary_size: int, workers: int) -> None:
        self._library = load_library()
        made = ctypes.c_void_p()
        check(self._library.specdec_memory_create(vocabulary_size, workers, ctypes.byref(made)))
        self.address = made

    def __del__(self) -> None:
        if hasattr(self, "address"):
            self._library.specdec_memory_destroy(self.address)
