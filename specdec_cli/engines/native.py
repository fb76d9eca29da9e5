"""The native engine, which decodes sentences in int8 on a CPU, and the decodings that it supports; without PyTorch."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from copy import copy
from ctypes import c_void_p
from dataclasses import replace
from functools import cached_property
from typing import Self

from specdec_cli.decoding.costs import Costs
from specdec_cli.decoding.lengths import Lengths, expected_lengths
from specdec_cli.decoding.methods import DRAFT_MODEL, GIVEN, LONGEST_DRAFT, SHORT_DRAFT
from specdec_cli.decoding.options import Decoding, Exact, FixedPoint, Rule, Sampled, Tolerant, check_block_size
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.engines.native_costs import (
    DraftTrial,
    MeasuredModel,
    SharedBlockSizes,
    measure_native_costs,
    round_costs,
    stored_costs,
)
from specdec_cli.engines.native_drafts import MULTIPLE, DraftModelOf
from specdec_cli.errors import UsageError
from specdec_cli.model.bundle_info import BundleDescription
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.drafter_config import AnyDrafterConfig, DrafterConfig
from specdec_cli.native.library import HEADER, LibraryError, UnsupportedModel
from specdec_cli.native.model import DecodedRound, NativeModel, NgramMemory, Resources

_LANES, _MOST_BEAM, _MOST_CANDIDATES = (HEADER.constants[name] for name in ("LANES", "MOST_BEAM", "MOST_CANDIDATES"))
_BLOCK = ("specdec", "specdec++")
_EXACT = {"greedy": 0, "lookup": LONGEST_DRAFT, "ngram-memory": SHORT_DRAFT}
"""Exact decodings without a network, and the block size of each if none is given."""
_FEW = 4
"""The largest number of tokens that `lookup` drafts in a round when `auto` uses it in place of greedy decoding."""
_JACOBI = ("jacobi", "gs-jacobi", "hybrid-jacobi")


class Unsupported(UsageError):
    """An error for settings or a bundle that the native engine does not support but the reference engine does."""


def native_decoding(bundle: BundleDescription, decoding: Decoding, *, shows_rounds: bool, has_draft_model: bool = False) -> Decoding:
    """Return `decoding` as the native engine runs it: the method is one of the library's, and has a block size; with `shows_rounds`,
    each round must be reported; with `has_draft_model`, another model can draft.

    If drafts may be skipped and there is no drafter that is supported, this is greedy decoding, which has the same output; or for sentences
    that are decoded one by one with weights that come from memory, lookup, whose drafts take no time.
    Raises Unsupported, with a message that names the option or property of the bundle that only the reference
    engine supports, and UsageError for a block size that the drafter was not trained for.
    """
    if shows_rounds and isinstance(decoding.acceptance, Tolerant):  # it does not report what the verifier would have chosen
        raise Unsupported("the native engine does not show rounds of tolerant decodings; the reference engine does")
    _check_bundle(bundle)
    method, rule, drafter = decoding.method, decoding.acceptance, bundle.drafter_config
    plain = replace(decoding, adaptive=False, may_skip=False)
    if isinstance(rule, Tolerant):
        rule = replace(rule, top_beta=min(rule.top_beta, bundle.shape.vocabulary_size))
    if method == "beam":
        if decoding.search.beam_size > _MOST_BEAM:
            raise Unsupported(f"the native engine has beams of at most {_MOST_BEAM} hypotheses; the reference engine has larger ones")
        return plain
    if method in _BLOCK and isinstance(rule, Exact | Tolerant | Sampled):
        problem = _problem(drafter)
        if problem is None:
            assert isinstance(drafter, DrafterConfig)
            check_block_size(decoding.block_size, drafter.max_block)
            return replace(decoding, method="specdec", acceptance=rule, may_skip=decoding.adaptive and decoding.may_skip)
        if not decoding.may_skip:
            raise Unsupported(f"the native engine does not run a drafter with {problem}; the reference engine does")
    if method == DRAFT_MODEL and has_draft_model and isinstance(rule, Exact | Sampled):
        return replace(decoding, block_size=decoding.block_size or LONGEST_DRAFT, may_skip=decoding.adaptive and decoding.may_skip)
    if method in _EXACT and isinstance(rule, Exact | Sampled):
        return replace(plain, block_size=decoding.block_size or _EXACT[method])
    if method in _JACOBI and not decoding.adaptive and isinstance(rule, Exact | FixedPoint | Sampled):
        return plain
    if method == "input-guided" and not isinstance(rule, FixedPoint):
        return replace(plain, acceptance=rule)
    if decoding.may_skip:  # the output is the same by all of them
        if decoding.batch_size == 1 and step_bytes(bundle.shape) > IN_CACHES:
            return replace(plain, method="lookup", block_size=_FEW)
        return replace(plain, method="greedy", block_size=0)
    raise Unsupported(f"the native engine does not do decoding {method} with these options; the reference engine does")


def _check_bundle(bundle: BundleDescription) -> None:
    order = bundle.shape.order
    if order != "left-to-right":
        raise Unsupported(f"the native engine does not write in the order {order}; the reference engine does")


def _problem(drafter: AnyDrafterConfig | None) -> str | None:
    """The property of a drafter that the engine does not support; None if it supports all."""
    if not isinstance(drafter, DrafterConfig):
        return "heads"
    unsupported = {
        f'attention "{drafter.attention}"': drafter.attention != "causal",
        f'layout "{drafter.layout}"': drafter.layout != "shifted",
        "source_copy": drafter.source_copy,
        "an encoder of its own": drafter.encoder != "shared",
        "embeddings of its own": drafter.embeddings != "shared",
        f'positions "{drafter.positions}"': drafter.positions != "input",
        f"feed_forward {drafter.feed_forward}, not a multiple of {_LANES}": drafter.feed_forward % _LANES,
        f"chain {drafter.chain}, not a multiple of {_LANES}": drafter.chain % _LANES,
        f"more than {_MOST_CANDIDATES} candidates": drafter.candidates > _MOST_CANDIDATES,
    }
    return next((name for name, applies in unsupported.items() if applies), None)


LEAST_SENTENCES = 4
"""Fewest sentences per thread for which each of several threads decodes a batch; with fewer, all share the work of one sentence."""
FEWEST_ROWS, MOST_ROWS = 6, 24
"""Rows that a thread decodes together at most: as many as kernels multiply at once where a step's weights stay in the caches, and more, the
longer weights take to arrive from memory.
"""
IN_CACHES = 16 * 2**20
"""Bytes of weights that stay in the caches from step to step."""
_BYTES_PER_ROW = 28 * 2**20
"""Bytes of a step's weights for which one more row is worth its time. Rows more than these wait for the product of the others."""
WORTH_LOADING = 32
"""Number of sentences after which an optional drafter is loaded: for fewer, loading takes longer than drafts can save."""
WORTH_LOADING_MODEL, WORTH_MEASURING_BATCHES = 4, 256
"""The same for a draft model, which pays for verifiers whose sentences take as long as loading it, one by one and in batches: the costs of
batches take long to measure.
"""
_FLOAT = 4


def step_bytes(shape: TransformerConfig) -> int:
    """The size in bytes of the int8 weights that one decoding step reads: the decoder layers and the output projection."""
    attention, inner = 6 * shape.width * shape.heads_width, (3 if shape.gated else 2) * shape.width * shape.feed_forward
    return shape.decoder_layers * (attention + inner) + shape.vocabulary_size * shape.width


def rows_of_pass(shape: TransformerConfig) -> int:
    """The number of sentences that a thread decodes together at most with a model of this shape: 6 to 24."""
    step = step_bytes(shape)
    if step <= IN_CACHES:
        return FEWEST_ROWS
    return min((8 + step // _BYTES_PER_ROW) // 4 * 4, MOST_ROWS)


def _keys_values(shape: TransformerConfig, layers: int) -> int:
    """The number of floats that `layers` layers cache for one position, keys and values together."""
    return 2 * shape.heads * (-(-shape.head_width // _LANES) * _LANES) * layers  # the engine pads heads


class NativeEngine:
    """The native engine: decodes sentences in int8 with the bundle that `bundle` describes, by `threads` threads,
    by the decoding `decoding`.

    `onlooker` is called after each round of each sentence (None: nothing is called); `shows_rounds` says that it shows what the verifier
    chose. `draft_model` drafts for the decoding draft-model. `model` is that of another engine for the bundle, and is used again if it has
    what the decoding needs. Raises Unsupported for
    what only the reference engine supports, UsageError if the engine's library is missing, and ModelError for weights that do not match
    the configuration.
    """

    def __init__(
        self,
        bundle: BundleDescription,
        decoding: Decoding,
        threads: int,
        *,
        shows_rounds: bool = False,
        draft_model: DraftModelOf | None = None,
        model: NativeModel | None = None,
    ) -> None:
        self._runs, self._folder = (
            native_decoding(bundle, decoding, shows_rounds=shows_rounds, has_draft_model=draft_model is not None),
            bundle.path.parent,
        )
        # With more hypotheses, keys and values no longer fit in the caches.
        together = rows_of_pass(bundle.shape) if decoding.search.beam_size == 1 else max(2, FEWEST_ROWS // decoding.search.beam_size)
        self._asked, self._threads = replace(decoding, batch_size=min(decoding.batch_size, together)), threads
        if self._runs.method == "lookup":
            self._asked = replace(self._asked, method="lookup")
        self.meanwhile: Callable[[], None] = lambda: None
        """Called repeatedly while sentences are decoded; an exception that it raises ends the decoding."""
        self.onlooker: Callable[[DecodedRound], None] | None = None
        self._bundle, self._shape, self._tokenizer, self._given_model = bundle, bundle.shape, bundle.tokenizer, model
        self.recorded: Mapping[tuple[int, ...], Sequence[Sequence[int]]] = {}
        """Drafts by source that replace those of each round, for measurements."""
        self.lengths: Lengths | None = None
        """Known lengths of outputs, where the drafts of a Jacobi decoding end, if they are given."""
        self._drafter = bundle.drafter_config if self._runs.method == "specdec" else None
        self.draft_model = draft_model
        """The draft model that this engine was given, for others beside it."""
        self._draft_model = draft_model if self._runs.method == DRAFT_MODEL else None
        self._trials: dict[Rule, DraftTrial] = {}
        self._sizes_of_rules: dict[Rule, SharedBlockSizes] = {}
        self._sentences = 0
        self._costs: Costs | None = None
        self._memory: NgramMemory | None = None
        try:
            if self._runs.method == "ngram-memory":
                self._memory = NgramMemory(self._shape.vocabulary_size, threads)
            known = self._costs_that_pay()
            self._load(with_drafter=self._has_drafts and (not self._runs.may_skip or known is not None))
            if known is not None:
                self._choose_sizes(known)
            elif self._runs.adaptive and not self._runs.may_skip:
                self._choose_sizes(self._measured_costs())
        except LibraryError as error:
            raise UsageError(f"the native engine is not there: {error}") from error

    def _load(self, *, with_drafter: bool) -> None:
        if self._draft_model is not None and with_drafter:
            _ = self._draft_model.loaded
            if hasattr(self, "_model"):
                return
            with_drafter = False
        if self._given_model is not None and (self._given_model.has_drafter or not with_drafter):
            self._model = self._given_model
            return
        verifier, drafter = (self._folder / part / "model.safetensors" for part in ("verifier", "drafter"))
        self._model = NativeModel(self._shape, verifier, *((self._drafter, drafter) if with_drafter else ()))

    def _choose_sizes(self, costs: Costs) -> None:
        self._costs = costs
        longest, rows, may_skip = self._runs.block_size, self._asked.batch_size, self._runs.may_skip
        trial = self._trial if may_skip else None
        self._sizes_of_rules[self._drafting_rule] = SharedBlockSizes(costs, longest, rows, self._threads, may_skip=may_skip, trial=trial)

    @property
    def _drafting_rule(self) -> Rule:
        """The rule by which drafts are accepted, with the seed 0: whether drafts pay does not depend on the seed."""
        rule = self._asked.acceptance
        return replace(rule, seed=0) if isinstance(rule, Sampled) else rule

    @property
    def _sizes(self) -> SharedBlockSizes | None:
        """The sizes of drafts for this rule; None if nothing is drafted so far."""
        return self._sizes_of_rules.get(self._drafting_rule)

    @property
    def _has_drafts(self) -> bool:
        """Whether a network or another model drafts."""
        return self._drafter is not None or self._draft_model is not None

    def _measured(self) -> MeasuredModel:
        drafter = self._drafter if self._draft_model is None else self._draft_model.shape
        assert isinstance(drafter, DrafterConfig | TransformerConfig)
        alone = self._draft_model is not None and self._asked.batch_size == 1
        return MeasuredModel(self._shape, drafter, self._runs.block_size, self._threads if self.workers == 1 else 1, alone)

    def _measured_costs(self) -> Costs:
        return round_costs(self._measured(), self._model, None if self._draft_model is None else self._draft_model.loaded.model)

    def _costs_that_pay(self) -> Costs | None:
        """The costs of rounds if optional drafts are known to pay for sentences that are decoded one by one. The drafter is then loaded
        with the verifier, in a tenth of the time that it takes to load both later.
        """
        if not self._runs.may_skip or self._asked.batch_size > 1 or self._stored is None:
            return None
        return self._stored if self._stored.can_pay(1, self._draft_sizes) and self._trial.pays is not False else None

    @property
    def _trial(self) -> DraftTrial:
        """The trial of the drafts of this bundle on this processor; another one for sampling, which accepts fewer."""
        if self._drafting_rule not in self._trials:
            self._trials[self._drafting_rule] = self._new_trial()
        return self._trials[self._drafting_rule]

    def _new_trial(self) -> DraftTrial:
        verifier, drafter = (self._folder / part / "model.safetensors" for part in ("verifier", "drafter"))
        files = [each.stat() for each in (verifier, drafter if self._draft_model is None else self._draft_model.path)]
        weights = [(each.st_size, each.st_mtime_ns) for each in files]
        return DraftTrial(self._measured().drafts_of(weights, self._drafting_rule))

    @property
    def _draft_sizes(self) -> range:
        """The numbers of tokens that drafts can have."""
        return range(1, self._runs.block_size + 1)

    @cached_property
    def _stored(self) -> Costs | None:
        return stored_costs(self._measured())

    @property
    def decoding(self) -> Decoding:
        """The decoding that runs. If drafts may be skipped, the drafter is loaded once 32 sentences
        were given (WORTH_LOADING) for which the measured costs of rounds allow a gain; until then, or if it is
        never used, this is "greedy" with block size 0.
        """
        if self._is_greedy:
            return replace(self._asked, method="greedy", block_size=0, adaptive=False)
        return replace(self._asked, block_size=self._runs.block_size, adaptive=self._runs.adaptive)

    @property
    def _is_greedy(self) -> bool:
        return self._runs.method == "greedy" or (self._runs.may_skip and self._sizes is None)

    def expect(self, sentences: int, rows: int = 1) -> None:
        """Count sentences that are about to be decoded, `rows` together. Once there were enough for an optional drafter to pay, load it,
        unless the costs of rounds, or a trial, say that it cannot; `decode` calls this too.
        """
        if self._sizes is not None or not self._runs.may_skip:
            return
        known = self._stored
        if (known is not None and not known.can_pay(1, self._draft_sizes)) or self._trial.pays is False:
            self._leave_out_drafts()
            return
        if known is not None and not known.can_pay(rows, self._draft_sizes):
            return
        self._sentences += sentences
        if self._sentences < self._worth_loading:
            return
        try:
            self._load(with_drafter=True)
            known = self._measured_costs()
        except UnsupportedModel:
            known = None
        if known is not None and known.can_pay(1, self._draft_sizes):
            self._choose_sizes(known)
        else:
            self._leave_out_drafts()

    @property
    def _worth_loading(self) -> int:
        if self._draft_model is None:
            return WORTH_LOADING
        return WORTH_LOADING_MODEL if self._asked.batch_size == 1 else WORTH_MEASURING_BATCHES

    def _leave_out_drafts(self) -> None:
        self._runs = replace(self._runs, method="greedy", block_size=0, adaptive=False, may_skip=False)
        self._drafter = self._draft_model = None

    @property
    def is_shareable(self) -> bool:
        """Whether several threads may call `decode` at the same time: not with an n-gram memory, nor while it is not known
        whether an optional drafter is used (see `expect`).
        """
        return self._memory is None and not (self._runs.may_skip and self._sizes is None)

    @property
    def workers(self) -> int:
        """Number of batches that are decoded at the same time: 1 if the batch size is 1 (all threads share a
        sentence), else the number of threads.
        """
        return 1 if self._asked.batch_size == 1 else self._threads

    @property
    def longest_source(self) -> int:
        return self._shape.max_positions // MULTIPLE * MULTIPLE

    @property
    def eos(self) -> int:
        return self._shape.eos

    @property
    def description(self) -> str:
        return f"native engine ({self._model.instructions})"

    @property
    def captured(self) -> str:
        """Empty: this engine runs on CPUs."""
        return ""

    @property
    def drafted(self) -> tuple[int, float] | None:
        if self._sizes is None:
            return None
        rounds, tokens = self._sizes.drafts
        return rounds, tokens / max(rounds, 1)

    def beside(self, decoding: Decoding, threads: int) -> "NativeEngine | None":
        try:
            return NativeEngine(self._bundle, decoding, threads, draft_model=self.draft_model, model=self._model)
        except Unsupported:
            return None

    def measured_costs(self) -> Costs:
        other = None if self._draft_model is None else self._draft_model.loaded.model
        return measure_native_costs(self._model, self._runs.block_size, self._threads, other)

    def with_rule(self, rule: Exact | Sampled) -> Self:
        """This engine with another acceptance rule and the same model. Each rule has its own sizes and trial of drafts, which all engines
        with this model share.
        """
        other = copy(self)
        other._asked, other._runs = self._asked.with_rule(rule), replace(self._runs, acceptance=rule)
        if self._costs is not None and other._sizes is None:
            other._choose_sizes(self._costs)
        return other

    def decode(self, sentences: Sequence[Sentence]) -> Iterator[Hypothesis]:
        """Yield a hypothesis for each sentence as soon as it is done, in any order; the lengths of the sentences may differ.

        Sentences that come with a draft are decoded first, apart from the others. Raises UsageError for drafts without a
        prefix if the decoding is not exact.
        """
        given = [sentence for sentence in sentences if sentence.draft]
        if given:
            if not all(sentence.prefix for sentence in given):
                self._asked.check_given()
            yield from self._decode_given(given)
            sentences = [sentence for sentence in sentences if not sentence.draft]
        if sentences:
            yield from self._decode_others(sentences)

    def _decode_others(self, sentences: Sequence[Sentence]) -> Iterator[Hypothesis]:
        rows = self._rows(sentences)
        self.expect(len(sentences), rows)
        if self._memory is not None:  # what is drafted depends on the order of sentences: that of the reference engine
            sentences = sorted(sentences, key=lambda sentence: -(-len(sentence.source) // MULTIPLE))
        decoding, method = self._runs, self._asked.method
        if self._is_greedy or self._is_dear(rows):
            decoding, method = replace(decoding, method="greedy"), "greedy"
        with nullcontext() if self._sizes is None or decoding.method == "greedy" else self._sizes.borrow() as sizes:
            for hypothesis in self._decode(sentences, decoding, None if sizes is None else sizes.address):
                # The drafter's two methods are one for the library.
                yield hypothesis if hypothesis.decoding in (method, "greedy") else replace(hypothesis, decoding=method)
        if sizes is not None and self._runs.may_skip and self._trial.pays is False:
            self._leave_out_drafts()

    def _is_dear(self, rows: int) -> bool:
        """Whether optional drafts cost too much for so many rows together."""
        return self._runs.may_skip and self._costs is not None and not self._costs.can_pay(rows, self._draft_sizes)

    def _decode_given(self, sentences: Sequence[Sentence]) -> Iterator[Hypothesis]:
        """Decode sentences that come with a draft; those with a prefix get scores."""
        asked = self._asked
        with_scores = asked.with_scores or any(sentence.prefix for sentence in sentences)
        yield from self._decode(
            sentences,
            replace(asked, method=GIVEN, acceptance=asked.given_acceptance, block_size=asked.given_block_size, with_scores=with_scores),
        )

    def _decode(self, sentences: Sequence[Sentence], decoding: Decoding, adaptive: c_void_p | None = None) -> Iterator[Hypothesis]:
        resources = Resources(
            threads=self._threads,
            shared_vocabulary=self._tokenizer.shared,
            word_starts=self._word_starts if decoding.method in (GIVEN, "input-guided") else b"",
            adaptive=adaptive,
            memory=self._memory.address if self._memory is not None and decoding.method == "ngram-memory" else None,
            lengths=self._lengths(decoding),
            draft_model=self._draft_model.loaded if self._draft_model is not None and decoding.method == DRAFT_MODEL else None,
            recorded=self.recorded if decoding.method != GIVEN else {},
        )
        decoding = replace(decoding, batch_size=self._rows(sentences))
        return self._model.decode(sentences, decoding, resources, self.meanwhile, self.onlooker)

    def _lengths(self, decoding: Decoding) -> Lengths | None:
        """Where the drafts of a Jacobi decoding end."""
        if decoding.method not in _JACOBI:
            return None
        if self.lengths is not None or decoding.method == "gs-jacobi":
            return self.lengths
        return expected_lengths(decoding.jacobi_length, self._bundle.info.length_ratio)

    @cached_property
    def _word_starts(self) -> bytes:
        return bytes(self._tokenizer.word_starts())

    def _rows(self, sentences: Sequence[Sentence]) -> int:
        """Number of sentences that a thread decodes together; with 1, all threads share one sentence."""
        if self._asked.batch_size == 1 or (self._threads > 1 and len(sentences) < LEAST_SENTENCES * self._threads):
            return 1
        longest = max(len(sentence.source) for sentence in sentences)
        layers = self._shape.decoder_layers + (self._drafter.layers if isinstance(self._drafter, DrafterConfig) else 0)
        positions = self._asked.search.beam_size * self._model.capacity(longest, self._asked.constraints.min_length) + longest
        keys_values = _keys_values(self._shape, layers) * positions
        if self._draft_model is not None:
            keys_values += _keys_values(self._draft_model.shape, self._draft_model.shape.decoder_layers) * positions
        fitting = self._asked.memory // (self._threads * _FLOAT * keys_values) if self._asked.memory else len(sentences)
        return max(1, min(self._asked.batch_size, -(-len(sentences) // self._threads), fitting))
