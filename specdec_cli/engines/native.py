"""The native engine, which decodes sentences in int8 on a CPU, without PyTorch."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from copy import copy
from ctypes import c_void_p
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Self

from specdec_cli.decoding.costs import Costs
from specdec_cli.decoding.lengths import Lengths, expected_lengths
from specdec_cli.decoding.methods import DRAFT_MODEL, GIVEN
from specdec_cli.decoding.options import Decoding, Exact, Sampled
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.engines.native_costs import SharedBlockSizes, measure_native_costs
from specdec_cli.engines.native_decoding import (
    FEWEST_ROWS,
    JACOBI,
    LEAST_SENTENCES,
    Unsupported,
    cached_floats,
    native_decoding,
    rows_of_pass,
)
from specdec_cli.engines.native_drafts import MULTIPLE, DraftModelOf, DraftSizes
from specdec_cli.errors import UsageError
from specdec_cli.model.bundle_info import BundleDescription, weights_file
from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.native.library import LibraryError, UnsupportedModel
from specdec_cli.native.model import DecodedRound, NativeModel, NgramMemory, Resources

_FLOAT = 4


class NativeEngine:
    """The native engine: decodes sentences in int8 with the bundle that `bundle` describes, by `threads` threads,
    by the decoding `decoding`.

    `onlooker` is called after each round of each sentence (None: nothing is called); `shows_rounds` says that it shows what the verifier
    chose. `draft_model` drafts for the decoding draft-model. `model` is that of another engine for the bundle, and is used again if it has
    what the decoding needs. Raises Unsupported for what only the reference engine supports, UsageError if the engine's library is missing,
    and ModelError for weights that do not match the configuration.
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
        self.draft_model = draft_model
        """The draft model that this engine was given, for others beside it."""
        drafter = {"specdec": bundle.drafter_config, DRAFT_MODEL: draft_model}.get(self._runs.method)
        self._drafts: DraftSizes | None = None
        if isinstance(drafter, DrafterConfig | DraftModelOf):
            self._drafts = DraftSizes(bundle, drafter, replace(self._runs, batch_size=self._asked.batch_size), threads)
        self._sentences = 0
        self._memory: NgramMemory | None = None
        try:
            if self._runs.method == "ngram-memory":
                self._memory = NgramMemory(self._shape.vocabulary_size, threads)
            costs = self._costs_that_pay()
            self._load(with_drafter=not self._runs.may_skip or costs is not None)
            if self._drafts is not None:
                measures = self._runs.adaptive and not self._runs.may_skip
                self._drafts.costs = self._drafts.measured(self._model) if measures else costs
        except LibraryError as error:
            raise UsageError(f"the native engine is not there: {error}") from error

    def _load(self, *, with_drafter: bool) -> None:
        """Load the model; with `with_drafter`, load also its drafter or the draft model, if there is one."""
        network: tuple[DrafterConfig, Path] | tuple[()] = ()
        if self._drafts is not None and with_drafter:
            if self._drafts.model is not None:
                _ = self._drafts.model.loaded
            elif isinstance(self._bundle.drafter_config, DrafterConfig):
                network = (self._bundle.drafter_config, weights_file(self._folder, "drafter"))
        if hasattr(self, "_model") and not network:
            return
        if self._given_model is not None and (self._given_model.has_drafter or not network):
            self._model = self._given_model
            return
        self._model = NativeModel(self._shape, weights_file(self._folder), *network)

    def _costs_that_pay(self) -> Costs | None:
        """The costs of rounds if optional drafts are known to pay for sentences that are decoded one by one. The drafter is then loaded
        with the verifier, in a tenth of the time that it takes to load both later.
        """
        drafts = self._drafts
        if drafts is None or not self._runs.may_skip or self._asked.batch_size > 1 or drafts.stored is None:
            return None
        return drafts.stored if drafts.can_pay(drafts.stored) and drafts.pays(self._asked.acceptance) is not False else None

    @property
    def _sizes(self) -> SharedBlockSizes | None:
        """The sizes of drafts; None if nothing is drafted so far, or if a network drafts that this engine has not loaded."""
        drafts = self._drafts
        if drafts is None or (drafts.model is None and not self._model.has_drafter):
            return None
        return drafts.of(self._asked.acceptance)

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
        drafts = self._drafts
        if drafts is None or self._sizes is not None or not self._runs.may_skip:
            return
        costs = drafts.stored
        if (costs is not None and not drafts.can_pay(costs)) or drafts.pays(self._asked.acceptance) is False:
            self._leave_out_drafts()
            return
        if costs is not None and not drafts.can_pay(costs, rows):
            return
        self._sentences += sentences
        if self._sentences < drafts.worth_loading:
            return
        try:
            self._load(with_drafter=True)
            costs = drafts.measured(self._model)
        except UnsupportedModel:
            costs = None
        if costs is not None and drafts.can_pay(costs):
            drafts.costs = costs
        else:
            self._leave_out_drafts()

    def _leave_out_drafts(self) -> None:
        self._runs = replace(self._runs, method="greedy", block_size=0, adaptive=False, may_skip=False)
        self._drafts = None

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
        other = None if self._drafts is None or self._drafts.model is None else self._drafts.model.loaded.model
        return measure_native_costs(self._model, self._runs.block_size, self._threads, other)

    def with_rule(self, rule: Exact | Sampled) -> Self:
        """This engine with another acceptance rule and the same model. Each rule has its own sizes and trial of drafts, which all engines
        with this model share.
        """
        other = copy(self)
        other._asked, other._runs = self._asked.with_rule(rule), replace(self._runs, acceptance=rule)
        return other

    def decode(self, sentences: Sequence[Sentence]) -> Iterator[Hypothesis]:
        """Yield a hypothesis for each sentence as soon as it is done, in any order; the lengths of the sentences may differ.

        Sentences that come with a draft are decoded first, apart from the others. Raises UsageError for drafts without a
        prefix if the decoding is not exact.
        """
        drafted = [sentence for sentence in sentences if sentence.draft]
        if drafted:
            if not all(sentence.prefix for sentence in drafted):
                self._asked.check_given()
            yield from self._decode_given(drafted)
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
        chosen = self._sizes
        with nullcontext() if chosen is None or decoding.method == "greedy" else chosen.borrow() as sizes:
            for hypothesis in self._decode(sentences, decoding, None if sizes is None else sizes.address):
                # The drafter's two methods are one for the library.
                yield hypothesis if hypothesis.decoding in (method, "greedy") else replace(hypothesis, decoding=method)
        if sizes is not None and self._runs.may_skip and self._drafts is not None and self._drafts.pays(self._asked.acceptance) is False:
            self._leave_out_drafts()

    def _is_dear(self, rows: int) -> bool:
        """Whether optional drafts cost too much for so many rows together."""
        drafts = self._drafts
        return self._runs.may_skip and drafts is not None and drafts.costs is not None and not drafts.can_pay(drafts.costs, rows)

    def _decode_given(self, sentences: Sequence[Sentence]) -> Iterator[Hypothesis]:
        """Decode sentences that come with a draft; those with a prefix get scores."""
        asked = self._asked
        with_scores = asked.with_scores or any(sentence.prefix for sentence in sentences)
        yield from self._decode(
            sentences,
            replace(asked, method=GIVEN, acceptance=asked.given_acceptance, block_size=asked.given_block_size, with_scores=with_scores),
        )

    def _decode(self, sentences: Sequence[Sentence], decoding: Decoding, adaptive: c_void_p | None = None) -> Iterator[Hypothesis]:
        model = None if self._drafts is None else self._drafts.model
        resources = Resources(
            threads=self._threads,
            shared_vocabulary=self._tokenizer.shared,
            word_starts=self._word_starts if decoding.method in (GIVEN, "input-guided") else b"",
            adaptive=adaptive,
            memory=self._memory.address if self._memory is not None and decoding.method == "ngram-memory" else None,
            lengths=self._lengths(decoding),
            draft_model=model.loaded if model is not None and decoding.method == DRAFT_MODEL else None,
            recorded=self.recorded if decoding.method != GIVEN else {},
        )
        decoding = replace(decoding, batch_size=self._rows(sentences))
        return self._model.decode(sentences, decoding, resources, self.meanwhile, self.onlooker)

    def _lengths(self, decoding: Decoding) -> Lengths | None:
        """Where the drafts of a Jacobi decoding end."""
        if decoding.method not in JACOBI:
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
        positions = self._asked.search.beam_size * self._model.capacity(longest, self._asked.constraints.min_length) + longest
        keys_values = cached_floats(self._shape) * positions
        if self._drafts is not None:
            keys_values += self._drafts.cached_floats(self._shape) * positions
        fitting = self._asked.memory // (self._threads * _FLOAT * keys_values) if self._asked.memory else len(sentences)
        return max(1, min(self._asked.batch_size, -(-len(sentences) // self._threads), fitting))
