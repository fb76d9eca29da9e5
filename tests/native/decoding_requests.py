"""Decodings by the native engine in few words, for tests; without torch."""

import ctypes
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any

from specdec_cli.decoding.lengths import Lengths
from specdec_cli.decoding.options import BeamSearch, Constraints, Decoding, Exact, FixedPoint, Margin, Sampled, Tolerant
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.native.draft_model import NativeDraftModel
from specdec_cli.native.library import HEADER
from specdec_cli.native.model import DecodedRound, NativeModel, Resources

RULES = ("min_length", "no_repeat_ngram_size", "source_ngram_size", "repetition_penalty", "most_copies", "forced_end", "forced", "forms")


@dataclass(frozen=True)
class Request:
    """The fields of Decoding and Resources that tests vary, and the texts of sentences by number."""

    decoding: str = "greedy"
    match: Any = "nearest"
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
    sampled: Sampled | None = None
    adaptive: ctypes.c_void_p | None = None
    memory: ctypes.c_void_p | None = None
    drafts: Sequence[Sequence[int]] = ()
    first_drafts: Sequence[int] = ()
    prefix_lengths: Sequence[int] = ()
    tidies_copies: bool = False
    beam_size: int = 1
    n_best: int = 1
    stop: Any = "heuristic"
    length_penalty: float = 1.0
    min_length: int = 0
    no_repeat_ngram_size: int = 0
    source_ngram_size: int = 0
    repetition_penalty: float = 1.0
    forced_end: bool = False
    most_copies: int = 0
    forms: tuple[bytes, bytes] = (b"", b"")
    whole: bool = False
    lengths: Lengths | None = None
    recorded: Sequence[Sequence[Sequence[int]]] = ()
    draft_model: NativeDraftModel | None = None

    def resolved(self) -> Decoding:
        """The decoding."""
        other = Tolerant(self.top_beta, self.tolerance) if self.top_beta else FixedPoint() if self.whole else None
        return Decoding(
            method=self.decoding,
            acceptance=self.sampled or other or (Margin(self.margin) if self.margin else Exact()),
            block_size=self.block_size,
            match=self.match,
            search=BeamSearch(self.beam_size, self.length_penalty, self.n_best, self.stop),
            constraints=Constraints(**{name: getattr(self, name) for name in RULES}),
            max_length=self.max_length,
            tidies_copies=self.tidies_copies,
            batch_size=self.batch,
            with_scores=self.with_scores,
        )

    def resources(self, sources: Sequence[Sequence[int]]) -> Resources:
        """What the decoding of `sources` needs besides."""
        recorded = {tuple(source): rounds for source, rounds in zip(sources, self.recorded, strict=False)}
        addresses = (self.adaptive, self.memory)
        return Resources(self.threads, self.shared_vocabulary, self.word_starts, *addresses, self.lengths, self.draft_model, recorded)

    def sentences(self, sources: Sequence[Sequence[int]]) -> list[Sentence]:
        """The sentences of `sources`, with their texts."""
        key = "copy" if self.decoding == "input-guided" else "draft"
        texts: list[dict[str, Any]] = [{} for _ in sources]
        for name, values in ((key, self.drafts), ("first", self.first_drafts), ("prefix", self.prefix_lengths)):
            for own, value in zip(texts, values, strict=False):
                own[name] = value
        return [
            Sentence(number, source, **own, stream=(number, 1), text="a text")
            for number, (source, own) in enumerate(zip(sources, texts, strict=True))
        ]


def decode(
    model: NativeModel,
    sources: Sequence[Sequence[int]],
    request: Request,
    meanwhile: Callable[[], None] = lambda: None,
    onlooker: Callable[[DecodedRound], None] | None = None,
) -> Generator[Hypothesis]:
    """Decode sources (ids ending with EOS) as `request` says; hypotheses have the numbers of their sources."""
    return model.decode(request.sentences(sources), request.resolved(), request.resources(sources), meanwhile, onlooker)


def measured_trial(sentences: int, gain: float) -> Any:
    """A trial of so many sentences of each kind, in which drafts gave `gain` times as many tokens in a millisecond."""
    trial = HEADER.structs["trial"](rounds=3 * sentences)
    trial.sentences[:] = [sentences, sentences]
    trial.tokens[:] = [9 * sentences, 9 * sentences]
    trial.milliseconds[:] = [4.0 * sentences, 4.0 * sentences / gain]
    return trial
