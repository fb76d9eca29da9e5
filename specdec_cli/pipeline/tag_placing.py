"""Alignment of spans with inline tags to the translation, which the model reads and writes without tags.

The verifier scores the translation with the whole source, and with the source without the words of a span. The words of the
translation whose probability falls most are those of the span (the prediction difference of Li et al. 2019, "On the Word Alignment
from Neural Machine Translation").
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from specdec_cli.decoding.sentence import Hypothesis, Sentence, make_sentence
from specdec_cli.engines.engine import SentenceDecoder
from specdec_cli.text.tags.alignment import Run, copied_gains, find_words, parts, touched, with_tags
from specdec_cli.text.tags.markup import InlineTags
from specdec_cli.text.tokenize.tokenizer import Tokenizer

_MOST_SPANS = 8
"""Most spans and parts of a sentence that are scored; others are aligned by words that are the same in both texts, and by their places."""

_LARGEST = 20.0
"""The largest gain of a token, and that of a word of a term, in nats. A constraint can exclude a token that the output has with one source
and not with the other; a term that was brought into a translation can be unlikely with any source.
"""


@dataclass(frozen=True)
class Tagged:
    """A `source` and its translation `output`, both without tags, and the `tags` of the source.

    `terms` are those of a glossary: start and end in the source, and target.
    """

    source: str
    output: str
    tags: InlineTags
    terms: tuple[tuple[int, int, str], ...] = ()


class TagPlacer:
    """Places inline tags in translations, which are scored by `engine`."""

    def __init__(self, engine: SentenceDecoder, tokenizer: Tokenizer) -> None:
        self._engine, self._tokenizer = engine, tokenizer

    def place(self, texts: Sequence[Tagged]) -> list[str]:
        """Return the output of each text with its tags (see `with_tags`)."""
        runs = [_runs(text) for text in texts]
        rests = [[_without(text.source, run) for run in runs_of_text] for text, runs_of_text in zip(texts, runs, strict=True)]
        pairs = set[tuple[str, str]]()
        for text, rest in zip(texts, rests, strict=True):
            scorable = list(dict.fromkeys(filter(None, rest)))[:_MOST_SPANS]
            pairs.update((source, text.output) for source in (text.source, *scorable) if scorable)
        scores, outputs = self._scores(pairs), []
        for text, runs_of_text, rest in zip(texts, runs, rests, strict=True):
            whole, count = scores.get((text.source, text.output)), len(text.tags.spans)
            others = (scores.get((each, text.output)) for each in rest)
            gains = [_with_terms(text, run, self._gains(text, run, whole, other)) for run, other in zip(runs_of_text, others, strict=True)]
            outputs.append(with_tags(text.source, text.output, text.tags, gains[:count], gains[count:]))
        return outputs

    def _scores(self, pairs: set[tuple[str, str]]) -> Mapping[tuple[str, str], Hypothesis]:
        """The scored outputs for pairs of a source and an output; without those that the engine cannot score."""
        if self._engine.decoding.order != "left-to-right":
            return {}
        ordered = sorted(pairs)
        targets = self._tokenizer.encode_targets([_with_plain_spaces(output) for _, output in ordered])
        sentences: list[Sentence] = []
        for number, ((source, output), target) in enumerate(zip(ordered, targets, strict=True)):
            forced = self._tokenizer.add_target_tokens(target, self._engine.eos)
            # Of the draft, one token more than the prefix is needed.
            draft, prefix = [*forced, self._engine.eos], len(forced)
            sentence = make_sentence(self._tokenizer, self._engine.eos, number, _with_plain_spaces(source), draft=draft, prefix=prefix)
            fits = max(len(sentence.source), prefix) <= self._engine.longest_source
            if fits and self._tokenizer.decode(target) == _with_plain_spaces(output):
                sentences.append(sentence)
        prefixes = {sentence.number: list(sentence.draft[:-1]) for sentence in sentences}
        hypotheses = self._engine.decode(sentences) if sentences else iter(())
        return {ordered[each.number]: each for each in hypotheses if each.ids == prefixes[each.number]}

    def _gains(self, text: Tagged, run: Run, whole: Hypothesis | None, rest: Hypothesis | None) -> list[float]:
        """For each word of the output, how much less likely it is without the words of a run."""
        if whole is None or rest is None:
            return copied_gains(text.source, run, text.output)
        ends = self._tokenizer.ends(whole.ids)
        tokens = [
            (begin, finish, min(score - other, _LARGEST) if math.isfinite(score) else 0.0)
            for begin, finish, score, other in zip([0, *ends], ends, whole.log_probabilities, rest.log_probabilities, strict=False)
        ]
        return [sum(gain for begin, finish, gain in tokens if begin < end and start < finish) for start, end in find_words(text.output)]


def _with_plain_spaces(text: str) -> str:
    """`text` as the model reads and writes it: with plain spaces for others, such as no-break spaces."""
    return re.sub(r"\s", " ", text)


def _runs(text: Tagged) -> list[Run]:
    """The runs of the source whose words are looked for: those of the spans, and the parts between void items."""
    spans = [(span.start, span.end) for span in text.tags.spans]
    return [*spans, *(parts(text.source, text.tags.voids) if text.tags.voids else ())]


def _with_terms(text: Tagged, run: Run, gains: list[float]) -> list[float]:
    """`gains` with _LARGEST for the targets of terms that are in a run, and 0 for those of others."""
    words, changed = find_words(text.output), list(gains)
    for start, end, target in text.terms:
        if text.output.count(target) == 1:
            place = text.output.index(target)
            first, last = touched(words, place, place + len(target))
            changed[first:last] = [_LARGEST * (start < run[1] and run[0] < end)] * (last - first)
    return changed


def _without(source: str, run: Run) -> str:
    """`source` without the words of a run; "" if no other words, or no words, are in it."""
    words = find_words(source)
    first, last = touched(words, *run)
    if last - first in (0, len(words)):
        return ""
    start, end = min(run[0], words[first][0]), max(run[1], words[last - 1][1])
    return " ".join(f"{source[:start]} {source[end:]}".split())
