"""Translation with a glossary: a sentence whose translation lacks a term is translated again, so that it has the term.

First, the sentence is decoded with placeholders in the place of the terms, and the outputs get their targets. The verifier scores these
outputs as translations of the sentence as it is, and the best one is taken. If there is none, a missing term is inserted before each word
of the best outputs, or replaces the word, until all terms are there. A sentence that would take too many attempts is not searched.

An output is not taken if it has a new fault, or if the words around the terms are far less likely than the usual translation.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf

from specdec_cli.decoding.methods import GLOSSARY
from specdec_cli.decoding.sentence import Hypothesis, make_sentence
from specdec_cli.engines.engine import SentenceDecoder
from specdec_cli.language_codes import short_code
from specdec_cli.pipeline.decoded_text import DecodedText
from specdec_cli.pipeline.term_judging import (
    DOUBTFUL_WORSE,
    LAST_WORSE,
    MOST_WORSE,
    articles_of,
    is_all_terms,
    is_spoilt,
    mean_around,
    misfits,
)
from specdec_cli.text.glossary import Glossary, Match, Term, come_out, target_at
from specdec_cli.text.protect.stand_ins import FOR_SPANS, ReadText, StandIn, name_pattern, placeholder_names, read_with
from specdec_cli.text.tokenize.tokenizer import Tokenizer

_WORD = re.compile(r"\w+")
_KEPT = 3
"""Outputs of a sentence to which the next term is added."""
_MOST_CHARACTERS = 100_000
"""Most characters of the outputs to which a search for a sentence adds a term."""


def readings(source: str, matches: Sequence[Match]) -> Iterator[ReadText]:
    """Yield `source` with placeholders in the place of its terms, once for each kind of placeholder that it does not have itself. What is
    yielded also puts the targets in the place of the placeholders of an output.

    If a target ends with a full stop and the output has one behind the placeholder, only one is written.
    """

    def stand_in(match: Match, name: str) -> StandIn:
        target = match.term.target
        pattern = name_pattern(name) + r"\.?" * target.endswith(".")
        return StandIn(match.start, match.end, name, pattern, lambda there: target_at(target, there.string, there.start()))

    for kind in FOR_SPANS:
        names = placeholder_names(*kind, len(matches))
        if not any(name in source for name in names):
            yield read_with(source, [stand_in(*each) for each in zip(matches, names, strict=True)])


@dataclass(frozen=True)
class _Output:
    """An output for a sentence: its hypothesis and text, the number of terms that it has, and whether it has all and no new fault."""

    hypothesis: Hypothesis
    text: str
    terms: int
    complete: bool

    @property
    def score(self) -> float:
        return self.hypothesis.score or 0.0


@dataclass
class _Sentence:
    """A sentence whose `usual` translation lacks terms. It is sentence number `place` of the line `text`.

    `found` holds the outputs that were scored. All of them together took `rounds` rounds. `mean` is the mean log probability of the tokens
    of the usual translation; minus infinity if outputs are not compared with it.
    """

    text: DecodedText
    place: int
    matches: Sequence[Match]
    usual: str
    rounds: int
    found: list[_Output] = field(default_factory=list)
    mean: float = -inf

    @property
    def source(self) -> str:
        return self.text.variant.segments.texts[self.place]

    @property
    def terms(self) -> list[Term]:
        return [match.term for match in self.matches]

    @property
    def is_all_terms(self) -> bool:
        return is_all_terms(self.source, self.matches)


class TermPlacer:
    """Brings the terms of `glossary` into the outputs of `engine`, which decodes from left to right, in `language`."""

    def __init__(self, engine: SentenceDecoder, tokenizer: Tokenizer, glossary: Glossary, language: str = "") -> None:
        self._engine, self._tokenizer, self.glossary, self._german = engine, tokenizer, glossary, short_code(language) == "de"
        self._begin = len(tokenizer.add_target_tokens([], engine.eos)) - 1  # the tokens before those of a text

    def lacks_terms(self, source: str, output: str) -> bool:
        """Whether `output` lacks a term that `source` has."""
        return not all(come_out([match.term for match in self.glossary.find(source)], output))

    def place(self, texts: Sequence[DecodedText]) -> None:
        """Replace the outputs of `texts` by ones that have their terms; an output stays as it is if none was found."""
        waiting = [sentence for text in texts for sentence in self._lacking(text)]
        self._score([(each, each.usual) for each in waiting])
        for sentence in waiting:
            if sentence.found and not sentence.is_all_terms:
                sentence.mean = self._mean_around(sentence.found[0], ())
        self._try_placeholders(waiting)
        placed: list[tuple[_Sentence, _Output]] = []
        for sentence in waiting:
            best = self._best_of(sentence, MOST_WORSE)
            if best is None:
                self._search(sentence)
                best = self._best_of(sentence, LAST_WORSE)
                sentence.text.is_doubtful |= best is not None and not sentence.is_all_terms
            if best is not None:
                placed.append((sentence, self._with_articles(sentence, best)))
        self._doubt_misplaced([each for each in placed if not each[0].is_all_terms])
        for sentence, output in placed:
            score = output.hypothesis.score if self._engine.decoding.with_scores else None
            part = replace(output.hypothesis, rounds=sentence.rounds, score=score, decoding=GLOSSARY)
            sentence.text.replace_part(sentence.place, part, self._tokenizer.decode)

    def _lacking(self, text: DecodedText) -> Iterator[_Sentence]:
        for index, (part, source) in enumerate(zip(text.parts, text.variant.segments.texts, strict=True)):
            matches, output = self.glossary.find(source), self._tokenizer.decode(part.ids)
            if not all(come_out([match.term for match in matches], output)):
                yield _Sentence(text, index, matches, output, part.rounds)

    def _try_placeholders(self, waiting: Sequence[_Sentence]) -> None:
        tries = [(sentence, read) for sentence in waiting for read in readings(sentence.source, sentence.matches)]
        sources = [make_sentence(self._tokenizer, self._engine.eos, number, read.text) for number, (_, read) in enumerate(tries)]
        outputs: dict[tuple[int, str], _Sentence] = {}
        for hypothesis in self._engine.decode([each for each in sources if len(each.source) <= self._engine.longest_source]):
            sentence, read = tries[hypothesis.number]
            sentence.rounds += hypothesis.rounds
            output = read.restored(self._tokenizer.decode(hypothesis.ids))
            if output is not None:
                outputs[id(sentence), output] = sentence
            if sentence.is_all_terms and (terms := read.restored(read.text)) is not None:
                outputs[id(sentence), terms] = sentence
        self._score([(sentence, output) for (_, output), sentence in outputs.items()])

    def _search(self, sentence: _Sentence) -> None:
        """Add one term after the other to the best outputs."""
        states = _best(output for output in sentence.found if output.terms < len(sentence.matches))
        while states:
            terms, earlier = min(state.terms for state in states), len(sentence.found)
            outputs = [(sentence, text) for state in states for text in _with_a_term(state.text, sentence.terms)]
            if sum(len(text) for _, text in outputs) > _MOST_CHARACTERS:
                return
            self._score(outputs)
            new = sentence.found[earlier:]
            if any(output.complete for output in new):
                return
            states = _best(output for output in new if terms < output.terms < len(sentence.matches))

    def _best_of(self, sentence: _Sentence, most_worse: float) -> _Output | None:
        """The most likely of the complete outputs that are at most so much worse than the usual translation; None if there is none."""
        for each in sorted((each for each in sentence.found if each.complete), key=lambda each: -each.score):
            if self._mean_around(each, sentence.terms) >= sentence.mean - most_worse:
                return each
        return None

    def _with_articles(self, sentence: _Sentence, best: _Output) -> _Output:
        """`best`, or the output that differs from it in articles alone: the most likely ones there that fit the genders of the targets.

        What follows an article does not count: after one in the genitive, a target is less likely, since it has no ending.
        """
        for number in range(len(sentence.matches) if self._german else 0):
            article = dict(enumerate(articles_of(best.text, sentence.terms))).get(number)
            if article is not None:
                before, after, earlier = best.text[: article.start], best.text[article.end :], len(sentence.found)
                self._score([(sentence, f"{before}{form}{after}") for form in article.forms])
                fitting = [each for each in sentence.found[earlier:] if each.complete]
                best = max(fitting, key=partial(self._score_before, after=after), default=best)
        return best

    def _mean_around(self, output: _Output, terms: Sequence[Term]) -> float:
        return mean_around(output.hypothesis, terms, self._tokenizer, german=self._german)

    def _score_before(self, output: _Output, after: str) -> float:
        """The log probability of the tokens of an output that are before the text `after` at its end."""
        ends = self._tokenizer.ends(output.hypothesis.ids)
        return sum(output.hypothesis.log_probabilities[: bisect_left(ends, len(output.text) - len(after)) + 1])

    def _doubt_misplaced(self, placed: Sequence[tuple[_Sentence, _Output]]) -> None:
        """Mark the texts of those outputs as doubtful in which the words around the terms are less likely, an article does not fit its
        target, or the verifier itself writes what a target does not fit (see `misfits`).
        """
        probes = []
        for sentence, output in placed:
            is_worse = self._mean_around(output, sentence.terms) < sentence.mean - DOUBTFUL_WORSE
            misfit = self._german and not all(article.fits for article in articles_of(output.text, sentence.terms))
            sentence.text.is_doubtful |= is_worse or misfit
            if not sentence.text.is_doubtful:
                ids = [token for token in output.hypothesis.ids if token != self._engine.eos]
                probes += [(sentence, ids, *each) for each in misfits(ids, sentence.terms, self._tokenizer, german=self._german)]
        for number, hypothesis in self._forced([each[:3] for each in probes]):
            sentence, _, count, pattern = probes[number]
            written = self._tokenizer.decode(hypothesis.ids)[len(self._tokenizer.decode(hypothesis.ids[: self._begin + count])) :]
            sentence.text.is_doubtful |= pattern.match(written) is not None

    def _score(self, outputs: Sequence[tuple[_Sentence, str]]) -> None:
        """Add outputs to those of their sentences, with their log probabilities."""
        encoded = self._tokenizer.encode_targets([text for _, text in outputs])
        forced = [(sentence, ids, len(ids) + 1) for (sentence, _), ids in zip(outputs, encoded, strict=True)]
        for number, hypothesis in self._forced(forced):
            sentence, output = outputs[number][0], self._tokenizer.decode(hypothesis.ids)
            if hypothesis.ids[-1:] == [self._engine.eos]:
                terms = sum(come_out(sentence.terms, output))
                complete = terms == len(sentence.matches) and not is_spoilt(sentence.source, sentence.usual, output, sentence.matches)
                complete = complete and sentence.text.with_part(sentence.place, hypothesis, self._tokenizer.decode) is not None
                sentence.found.append(_Output(hypothesis, output, terms, complete))

    def _forced(self, outputs: Sequence[tuple[_Sentence, Sequence[int], int]]) -> Iterator[tuple[int, Hypothesis]]:
        """Decode sentences whose outputs begin with so many of the ids and EOS; the other ids are a draft. Yield the index of each."""
        asked = []
        for number, (sentence, ids, count) in enumerate(outputs):
            # Of the draft, one token more than the prefix is needed.
            draft, prefix = [*self._tokenizer.add_target_tokens(ids, self._engine.eos), self._engine.eos], self._begin + count
            asked.append(make_sentence(self._tokenizer, self._engine.eos, number, sentence.source, draft=draft, prefix=prefix))
        for hypothesis in self._engine.decode(asked):
            outputs[hypothesis.number][0].rounds += hypothesis.rounds
            yield hypothesis.number, hypothesis


def _with_a_term(output: str, terms: Sequence[Term]) -> Iterator[str]:
    """Yield `output` with each of the `terms` that it lacks before each word, in the place of the word, and behind the last one."""
    words = [match.span() for match in _WORD.finditer(output)]
    missing = dict.fromkeys(term.target for term, there in zip(terms, come_out(terms, output), strict=True) if not there)
    for target in missing:
        for start, end in words:
            shown = target_at(target, output, start)
            yield from (f"{output[:start]}{shown} {output[start:]}", f"{output[:start]}{shown}{output[end:]}")
        end = words[-1][1] if words else 0
        yield f"{output[:end]} {target}{output[end:]}"


def _best(outputs: Iterable[_Output]) -> list[_Output]:
    return sorted(outputs, key=lambda output: (output.terms, output.score))[-_KEPT:]
