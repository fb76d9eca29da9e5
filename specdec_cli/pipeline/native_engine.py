"""The native engine: decodes sentences in int8 on a CPU, without PyTorch."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cached_property

from specdec_cli.decoding.names import GIVEN, MATCH
from specdec_cli.decoding.sentence import Alternative, Hypothesis, Sentence
from specdec_cli.errors import UsageError
from specdec_cli.model.bundle_description import BundleDescription
from specdec_cli.native.library import HEADER, LibraryError, UnsupportedModel
from specdec_cli.native.model import NativeModel
from specdec_cli.native.ngram_memory import NgramMemory
from specdec_cli.native.records import Decoded, DecodedRound, Request
from specdec_cli.pipeline.native_decoding import NativeDecoding, native_decoding
from specdec_cli.pipeline.rules import check_given
from specdec_cli.pipeline.settings import Settings
from specdec_cli.tuning.native_block_size import SharedBlockSizes
from specdec_cli.tuning.native_round_timing import MeasuredModel, can_pay, round_costs, stored_costs
from specdec_cli.tuning.round_costs import Costs

LEAST_SENTENCES = 4
"""Fewest sentences per thread for which each of several threads decodes a batch; with fewer, all share the work of one sentence."""
MULTIPLE = HEADER.constants["MULTIPLE"]
"""The longest source that the engine takes is a multiple of this number of tokens."""
MOST_ROWS = 6
"""Most rows that a thread decodes together, as many as kernels multiply at once: one for each sentence, or each hypothesis of a beam."""
WORTH_LOADING = 32
"""Number of sentences after which an optional drafter is loaded: for fewer, loading takes longer than drafts can save."""
_FLOAT, _MOST_TOKENS, _LANES = 4, 2**31 - 1, 16  # the engine pads the width of a head to a multiple of _LANES


class NativeEngine:
    """The native engine: decodes sentences in int8 with the bundle that `bundle` describes, by `threads` threads,
    according to `settings`.

    `shows_rounds` says that each round must be reported; that is not supported, and Unsupported is raised. Raises
    Unsupported also for other things that only the reference engine supports, UsageError if the engine's library is
    missing, and ModelError for weights that do not match the configuration.
    """

    def __init__(self, bundle: BundleDescription, settings: Settings, threads: int, *, shows_rounds: bool = False) -> None:
        self._way, self._folder = native_decoding(bundle, settings, shows_rounds=shows_rounds), bundle.path.parent
        together = max(2, MOST_ROWS // settings.beam_size)  # with more sentences, keys and values no longer fit in the caches
        self._asked, self._threads = replace(settings, batch_size=min(settings.batch_size, together)), threads
        self.meanwhile: Callable[[], None] = lambda: None
        """Called repeatedly while sentences are decoded; an exception that it raises ends the decoding."""
        self.onlooker: Callable[[DecodedRound], None] | None = None
        """Called with each round of each sentence, by its index among those that are decoded together."""
        self._shape, self._tokenizer, self._info = bundle.shape, bundle.tokenizer, bundle.info
        self._sizes: SharedBlockSizes | None = None
        self._sentences = 0
        self._memory: NgramMemory | None = None
        try:
            if self._way.decoding == "ngram-memory":
                self._memory = NgramMemory(self._shape.vocabulary_size, threads)
            self._load(with_drafter=self._way.drafter is not None and not self._way.may_skip)
            if self._way.adaptive and not self._way.may_skip:
                self._choose_sizes(round_costs(self._measured()))
        except LibraryError as error:
            raise UsageError(f"the native engine is not there: {error}") from error

    def _load(self, *, with_drafter: bool) -> None:
        verifier, drafter = (self._folder / part / "model.safetensors" for part in ("verifier", "drafter"))
        self._model = NativeModel(self._shape, verifier, *((self._way.drafter, drafter) if with_drafter else ()))

    def _choose_sizes(self, costs: Costs) -> None:
        self._sizes = SharedBlockSizes(costs, self._way.block_size, self._asked.batch_size, self._threads, may_skip=self._way.may_skip)

    def _measured(self) -> MeasuredModel:
        assert self._way.drafter is not None
        return MeasuredModel(self._model, self._way.drafter, self._way.block_size, self._threads if self.workers == 1 else 1)

    @property
    def settings(self) -> Settings:
        """The settings of the decoding that runs. If drafts may be skipped, the drafter is loaded once 32 sentences
        were given (WORTH_LOADING), and is used if the measured costs of rounds allow a gain; until then, or if it is
        never used, the settings say "greedy" with block size 0.
        """
        if self._is_greedy:
            return replace(self._asked, decoding="greedy", block_size=0, adaptive_length=False)
        return replace(self._asked, block_size=self._way.block_size, adaptive_length=self._way.adaptive)

    @property
    def _is_greedy(self) -> bool:
        return self._way.decoding == "greedy" or (self._way.may_skip and self._sizes is None)

    def expect(self, sentences: int) -> None:
        """Count sentences that are about to be decoded. Once there were enough for an optional drafter to pay, load it,
        unless the costs of rounds say that it cannot; `decode` calls this too.
        """
        self._sentences += sentences
        if self._sizes is not None or not self._way.may_skip or self._sentences < WORTH_LOADING:
            return
        known = stored_costs(self._measured())
        try:
            if known is None or can_pay(known, self._way.block_size):
                self._load(with_drafter=True)
                known = round_costs(self._measured())
        except UnsupportedModel:
            known = None
        if known is not None and can_pay(known, self._way.block_size):
            self._choose_sizes(known)
        else:
            self._way = NativeDecoding("greedy")

    @property
    def is_shareable(self) -> bool:
        """Whether several threads may call `decode` at the same time: not with an n-gram memory, nor while it is not known
        whether an optional drafter is used (see `expect`).
        """
        return self._memory is None and not (self._way.may_skip and self._sizes is None)

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
    def drafted(self) -> tuple[int, float] | None:
        if self._sizes is None:
            return None
        rounds, tokens = self._sizes.drafts
        return rounds, tokens / max(rounds, 1)

    def decode(self, sentences: Sequence[Sentence]) -> Iterator[Hypothesis]:
        """Yield a hypothesis for each sentence as soon as it is done, in any order; the lengths of the sentences may differ.

        Sentences that come with a draft are decoded first, apart from the others. Raises UsageError for drafts without a
        prefix if the settings are not those of an exact decoding.
        """
        given = [sentence for sentence in sentences if sentence.draft]
        if given:
            if not all(sentence.prefix for sentence in given):
                check_given(self._asked.decoding, self._asked.rule)
            yield from self._decode_given(given)
            sentences = [sentence for sentence in sentences if not sentence.draft]
        if sentences:
            yield from self._decode_others(sentences)

    def _decode_others(self, sentences: Sequence[Sentence]) -> Iterator[Hypothesis]:
        self.expect(len(sentences))
        if self._memory is not None:  # what is drafted depends on the order of sentences: that of the reference engine
            sentences = sorted(sentences, key=lambda sentence: -(-len(sentence.source) // MULTIPLE))
        way, decoding = self._way, "greedy" if self._is_greedy else self._asked.decoding
        with nullcontext() if self._sizes is None else self._sizes.borrow() as sizes:
            request = replace(
                self._request,
                batch=self._rows(sentences),
                decoding="greedy" if self._is_greedy else way.decoding,
                block_size=way.block_size,
                word_starts=self._word_starts if way.decoding == "input-guided" else b"",
                drafts=[each.copy or each.source for each in sentences] if any(each.copy for each in sentences) else (),
                first_drafts=[way.first_draft] * len(sentences) if way.first_draft else (),
                top_beta=min(way.top_beta, self._shape.vocabulary_size),
                tolerance=way.tolerance,
                margin=way.margin,
                adaptive=None if sizes is None else sizes.address,
                memory=None if self._memory is None else self._memory.address,
            )
            yield from self._hypotheses(sentences, request, decoding)

    def _decode_given(self, sentences: Sequence[Sentence]) -> Iterator[Hypothesis]:
        """Decode sentences that come with a draft; those with a prefix get scores."""
        request = replace(
            self._request,
            batch=self._rows(sentences),
            decoding=GIVEN,
            block_size=self._asked.given_block_size,
            with_scores=self._asked.with_scores or any(sentence.prefix for sentence in sentences),
            word_starts=self._word_starts,
            drafts=[sentence.draft for sentence in sentences],
            first_drafts=[sentence.first for sentence in sentences],
            prefix_lengths=[sentence.prefix for sentence in sentences],
        )
        yield from self._hypotheses(sentences, request, GIVEN)

    @cached_property
    def _request(self) -> Request:
        """The options that all decodings have in common."""
        settings, info = self._asked, self._info
        return Request(
            match=str(settings.options.get(MATCH.name, "nearest")),
            threads=self._threads,
            max_length=min(settings.max_length or 0, _MOST_TOKENS),
            forced=self._tokenizer.special_tokens.forced,
            with_scores=settings.with_scores,
            shared_vocabulary=self._tokenizer.shared,
            beam_size=settings.beam_size,
            n_best=settings.n_best,
            stop=settings.beam_stop,
            length_penalty=settings.length_penalty,
            min_length=info.min_length,
            no_repeat_ngram_size=info.no_repeat_ngram_size,
            source_ngram_size=info.source_ngram_size,
            repetition_penalty=info.repetition_penalty,
            forced_end=info.forced_end,
            most_copies=info.most_copies,
            forms=self._tokenizer.forms() if info.most_copies else (b"", b""),
        )

    def _hypotheses(self, sentences: Sequence[Sentence], request: Request, decoding: str) -> Iterator[Hypothesis]:
        for each in self._model.decode([sentence.source for sentence in sentences], request, self.meanwhile, self.onlooker):
            yield _hypothesis(each, sentences[each.number].number, decoding, with_scores=request.with_scores)

    @cached_property
    def _word_starts(self) -> bytes:
        return bytes(self._tokenizer.word_starts())

    def _rows(self, sentences: Sequence[Sentence]) -> int:
        """Number of sentences that a thread decodes together; with 1, all threads share one sentence."""
        if self._asked.batch_size == 1 or (self._threads > 1 and len(sentences) < LEAST_SENTENCES * self._threads):
            return 1
        longest = max(len(sentence.source) for sentence in sentences)
        layers = self._shape.decoder_layers + (self._way.drafter.layers if self._way.drafter is not None else 0)
        head_width = -(-self._shape.width // self._shape.heads // _LANES) * _LANES
        positions = self._asked.beam_size * self._model.capacity(longest, self._info.min_length) + longest
        keys_values = 2 * self._shape.heads * head_width * layers * positions
        fitting = self._asked.memory // (self._threads * _FLOAT * keys_values) if self._asked.memory else len(sentences)
        return max(1, min(self._asked.batch_size, -(-len(sentences) // self._threads), fitting))


def _hypothesis(decoded: Decoded, number: int, decoding: str, *, with_scores: bool) -> Hypothesis:
    """The hypothesis for the sentence `number`."""
    if decoded.alternatives:
        found = tuple(Alternative(each.ids, each.log_probability, each.score) for each in decoded.alternatives)
        return Hypothesis(number, decoded.ids, decoded.rounds, found[0].log_probability, found, (), decoding)
    score = sum(decoded.log_probabilities) if with_scores else None
    return Hypothesis(number, decoded.ids, decoded.rounds, score, (), decoded.log_probabilities, decoding if decoded.drafted else "greedy")
