"""The native engine: decodes sentences in int8 on a CPU, without PyTorch."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from specdec_cli.decoding.acceptance_rules import Exact
from specdec_cli.decoding.names import LONGEST_DRAFT, MATCH
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.errors import UsageError
from specdec_cli.model.bundle_description import BundleDescription
from specdec_cli.native.library import LibraryError
from specdec_cli.native.model import NativeModel, Request
from specdec_cli.pipeline.settings import Settings

LEAST_SENTENCES = 4
"""With fewer sentences per thread, all threads decode one sentence after the other."""
MULTIPLE = 16
"""Longest sources are multiples of this."""
_DECODINGS = ("greedy", "lookup", "input-guided")
_FLOAT = 4


class Unsupported(UsageError):
    """The engine does not do what is asked; the reference engine does."""


@dataclass(frozen=True)
class _Way:
    """The engine's own decoding for some settings, and the largest number of drafted tokens."""

    decoding: str
    block_size: int = 0


class NativeEngine:
    """A bundle and settings, ready to decode with `threads` threads.

    With `shows_rounds`, each round must be shown. Raises Unsupported for what only the reference engine does; UsageError if the
    engine's library is missing; ModelError for weights that do not fit.
    """

    def __init__(self, bundle: BundleDescription, settings: Settings, threads: int, *, shows_rounds: bool = False) -> None:
        self._way = _way(bundle, settings, shows_rounds=shows_rounds)
        # What runs: greedy decoding where drafts may be skipped.
        self.settings = replace(settings, decoding=self._way.decoding, block_size=self._way.block_size, adaptive_length=False)
        self._threads = threads
        self.meanwhile: Callable[[], None] = lambda: None
        """Called now and then while sentences are decoded, which ends with an exception that it raises."""
        self._shape, self._tokenizer = bundle.shape, bundle.tokenizer
        self._word_starts = bytes(bundle.tokenizer.word_starts()) if self._way.decoding == "input-guided" else b""
        try:
            self._model = NativeModel(bundle.shape, bundle.path.parent / "verifier" / "model.safetensors")
        except LibraryError as error:
            raise UsageError(f"the native engine is not there: {error}") from error

    @property
    def workers(self) -> int:
        """Number of batches that are decoded at the same time."""
        return 1 if self.settings.batch_size == 1 else self._threads

    @property
    def longest_source(self) -> int:
        """Largest number of source tokens, EOS included."""
        return self._shape.max_positions // MULTIPLE * MULTIPLE

    @property
    def eos(self) -> int:
        """The id of EOS."""
        return self._shape.eos

    @property
    def description(self) -> str:
        """Description of the engine for statistics."""
        return f"native engine ({self._model.instructions})"

    @property
    def drafted(self) -> tuple[int, float] | None:
        """None: the length of drafts does not adapt."""
        return None

    def decode(self, sentences: Sequence[Sentence]) -> Iterator[Hypothesis]:
        """Decode sentences of any length; each hypothesis comes as soon as it is done, in no particular order."""
        settings, way = self.settings, self._way
        request = Request(
            decoding=way.decoding,
            match=str(settings.options.get(MATCH.name, "nearest")),
            block_size=way.block_size,
            batch=self._rows(sentences),
            threads=self._threads,
            max_length=settings.max_length or 0,
            forced=self._tokenizer.special_tokens.forced,
            with_scores=settings.with_scores,
            shared_vocabulary=self._tokenizer.shared,
            word_starts=self._word_starts,
        )
        for each in self._model.decode([sentence.source for sentence in sentences], request, self.meanwhile):
            score = sum(each.log_probabilities) if settings.with_scores else None
            yield Hypothesis(sentences[each.number].number, each.ids, each.rounds, score, (), each.log_probabilities, way.decoding)

    def _rows(self, sentences: Sequence[Sentence]) -> int:
        """Number of sentences that a thread decodes together; with 1, all threads share one sentence."""
        if self.settings.batch_size == 1 or len(sentences) < LEAST_SENTENCES * self._threads:
            return 1
        longest = max(len(sentence.source) for sentence in sentences)
        keys_values = 2 * self._shape.width * self._shape.decoder_layers * (self._model.capacity(longest) + longest)
        fitting = self.settings.memory // (self._threads * _FLOAT * keys_values) if self.settings.memory else len(sentences)
        return max(1, min(self.settings.batch_size, -(-len(sentences) // self._threads), fitting))


def _way(bundle: BundleDescription, settings: Settings, *, shows_rounds: bool) -> _Way:
    """The engine's own decoding for `settings`. Raises Unsupported naming what it does not support."""
    info, order = bundle.info, bundle.shape.order
    constrained = info.min_length or info.no_repeat_ngram_size or info.source_ngram_size or info.repetition_penalty != 1 or info.forced_end
    if shows_rounds:
        raise Unsupported("the native engine does not show rounds; the reference engine does")
    if order != "left-to-right":
        raise Unsupported(f"the native engine does not write in the order {order}; the reference engine does")
    if constrained:
        raise Unsupported("the native engine has none of this bundle's generation settings; the reference engine has")
    if settings.decoding in _DECODINGS and settings.rule == Exact():
        return _Way(settings.decoding, settings.block_size or (LONGEST_DRAFT if settings.decoding == "lookup" else 0))
    if settings.may_skip_drafting:
        return _Way("greedy")  # the same output
    raise Unsupported(f"the native engine does not do decoding {settings.decoding} with these options; the reference engine does")
