"""Translation with a glossary: a sentence whose translation lacks a term is translated again, so that it has the term.

First, the sentence is decoded with the target of each term in the place of the term, and with placeholders there. The verifier scores these
outputs as translations of the sentence as it is, and the best one that has all terms is taken. If there is none, a missing term is forced
at each word of the best outputs, and the verifier continues greedily after it, until all terms are there (as in grid beam search, Hokamp
and Liu 2017). If that fails, the term is inserted there, or replaces a word, and nothing else changes. A sentence that would take too many
attempts is not searched. If all this fails, the texts between the terms of a sentence are translated one by one.

An output is not taken if it has a new fault, or if the words around the terms are far less likely than the usual translation.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from specdec_cli.decoding.methods import GLOSSARY
from specdec_cli.decoding.sentence import Hypothesis, make_sentence
from specdec_cli.engines.engine import SentenceDecoder
from specdec_cli.language_codes import short_code
from specdec_cli.pipeline.decoded_text import DecodedText
from specdec_cli.pipeline.term_judging import (
    DOUBTFUL_WORSE,
    LAST_WORSE,
    MOST_WORSE,
    article_score,
    articles_of,
    capital_targets,
    is_all_terms,
    is_ending,
    is_small_word,
    is_spoilt,
    mean_around,
    target_ends,
    with_articles,
)
from specdec_cli.pipeline.variants import Variant, split_at_spans
from specdec_cli.text.edits import Edit, apply_edits, with_outputs
from specdec_cli.text.glossary import Glossary, Match, Term, begins_sentence, capitalised, come_out
from specdec_cli.text.protect.spans import protected_spans
from specdec_cli.text.protect.stand_ins import PLACEHOLDERS, name_pattern, placeholder_names
from specdec_cli.text.tokenize.tokenizer import Tokenizer


@dataclass(frozen=True)
class ReplacedTerms:
    """A source in which each term is replaced by one of `names`; without names, by its target. `targets` are those of the
    terms. `leftover` matches what is left of a name that was not copied.
    """

    source: str
    names: tuple[str, ...]
    targets: tuple[str, ...]
    leftover: str = ""

    def restore(self, output: str) -> str | None:
        """Return `output` with the names that it has replaced by their targets; None if a name occurs several times, or as part of a
        word, or if something is left of one.
        """
        for name in self.names:
            if output.count(name) > 1 or (name in output and not re.search(name_pattern(name), output)):
                return None
        targets = zip(self.names, self.targets, strict=False)
        edits = list[Edit]()
        for start, name, target in sorted((output.index(name), name, target) for name, target in targets if name in output):
            end = start + len(name)
            shown = capitalised(target) if begins_sentence(output, start) else target
            edits.append(Edit(start, end + _shared_stop(target, output[end:]), name, shown))
        between = apply_edits(output, [each._replace(text=" ") for each in edits])
        left = self.leftover and re.search(rf"(?<!\w){self.leftover}(?!\w)", between)
        return None if left else apply_edits(output, edits)


def replaced_sources(source: str, matches: Sequence[Match]) -> Iterator[ReplacedTerms]:
    """Yield `source` with its terms replaced by their targets, and by each kind of placeholder that it does not have."""
    targets = tuple(match.term.target for match in matches)
    yield ReplacedTerms(_replaced(source, matches, _fitting(matches))[0], (), targets)
    for stem, first in PLACEHOLDERS:
        names = placeholder_names(stem, first, len(matches))
        if not any(name in source for name in names):
            leftover = rf"{re.escape(stem)}\d*" if stem else r"\d{4,}"
            known = re.search(rf"(?<!\w){leftover}(?!\w)", source)
            yield ReplacedTerms(_replaced(source, matches, names)[0], names, targets, "" if known else leftover)


def _fitting(matches: Sequence[Match]) -> list[str]:
    """The targets of terms as they are in their sentence."""
    return [capitalised(match.term.target) if match.initial else match.term.target for match in matches]


def _replaced(source: str, matches: Sequence[Match], names: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """The source with names in the place of terms, and where each is there."""
    pairs = zip(matches, names, strict=True)
    edits = with_outputs(Edit(each.start, each.end + _shared_stop(name, source[each.end :]), "", name) for each, name in pairs)
    return apply_edits(source, edits), [edit.output for edit in edits]


def _shared_stop(target: str, following: str) -> int:
    """1 if the full stop that `target` ends with is also the one with which `following` begins, else 0."""
    return int(target.endswith(".") and following.startswith("."))


def between_terms(source: str, matches: Sequence[Match]) -> Variant:
    """Split `source` at its glossary terms: the texts between them are decoded, and each term is replaced by its translation."""
    replaced, spans = _replaced(source, matches, _fitting(matches))
    kept = [span for span in protected_spans(replaced) if not any(span[0] < end and start < span[1] for start, end in spans)]
    excluded = sorted([*spans, *kept])
    return split_at_spans(replaced, excluded, tuple(replaced[start:end] for start, end in excluded))


_KEPT = 3
"""Outputs of a sentence to which the next term is added."""
_MOST_TOKENS = 50_000
"""Most tokens of the outputs that a search for a sentence may decode."""


@dataclass(frozen=True)
class _Output:
    """An output for a sentence: its hypothesis, the number of terms that it has, and whether it has all and no new fault. The
    text of the first `fixed` tokens was forced.
    """

    hypothesis: Hypothesis
    terms: int
    complete: bool = False
    fixed: int = 0

    @property
    def score(self) -> float:
        """The log probability of the output; 0 if it is not known."""
        return self.hypothesis.score or 0.0


@dataclass
class _Sentence:
    """A sentence whose translation lacks terms. It is sentence number `place` of the line `text`.

    `found` holds the outputs so far; the first one is the usual translation. All of them together took `rounds` rounds. `usual` is the
    mean log probability of the tokens of the usual translation; None if it is not known.
    """

    text: DecodedText
    place: int
    matches: Sequence[Match]
    rounds: int
    found: list[_Output] = field(default_factory=list)
    usual: float | None = None

    @property
    def source(self) -> str:
        """The text of the sentence."""
        return self.text.variant.segments.texts[self.place]

    @property
    def terms(self) -> list[Term]:
        """The terms of the sentence, in order."""
        return [match.term for match in self.matches]

    @property
    def unfinished(self) -> list[_Output]:
        """The best outputs that lack a term."""
        return _best(output for output in self.found if output.terms < len(self.matches))

    @property
    def search_tokens(self) -> int:
        """Estimate of the tokens that a search decodes, which tries each missing term before each token of the kept outputs."""
        best = self.unfinished[-1]
        missing, length = len(self.matches) - best.terms, len(best.hypothesis.ids)
        return _KEPT * length**2 * missing * (missing + 1) // 2


class TermPlacer:
    """Brings the terms of `glossary` into the outputs of `engine`, which decodes from left to right, in `language`."""

    def __init__(self, engine: SentenceDecoder, tokenizer: Tokenizer, glossary: Glossary, language: str = "") -> None:
        self._engine, self._tokenizer, self.glossary, self._german = engine, tokenizer, glossary, short_code(language) == "de"
        self._word_starts = tokenizer.word_starts()

    def lacks_terms(self, source: str, output: str) -> bool:
        """Whether `output` lacks a term that `source` has."""
        return not all(come_out([match.term for match in self.glossary.find(source)], output))

    def place(self, texts: Sequence[DecodedText]) -> None:
        """Replace the outputs of `texts` by ones that have their terms; an output stays as it is if none was found."""
        waiting = [sentence for text in texts for sentence in self._lacking(text)]
        self._score_usual(waiting)
        self._try_replaced(waiting)
        placed: list[tuple[_Sentence, _Output]] = []
        for sentence in waiting:
            best, can_search, doubtful = self._best_of(sentence), sentence.search_tokens <= _MOST_TOKENS, False
            for keeps_rest in (False, True):
                if best is None and can_search:
                    self._search(sentence, keeps_rest=keeps_rest)
                    best, doubtful = self._best_of(sentence), keeps_rest
            if best is None:
                best, doubtful = self._in_parts(sentence) or self._best_of(sentence, LAST_WORSE), True
            if best is not None:
                best = self._with_articles(sentence, best)
                score = best.hypothesis.score if self._engine.decoding.with_scores else None
                part = replace(best.hypothesis, rounds=sentence.rounds, score=score, decoding=GLOSSARY)
                sentence.text.replace_part(sentence.place, part, self._tokenizer.decode)
                if not is_all_terms(sentence.source, sentence.matches):
                    sentence.text.is_doubtful |= doubtful
                    placed.append((sentence, best))
        self._doubt_misplaced(placed)

    def _doubt_misplaced(self, placed: Sequence[tuple[_Sentence, _Output]]) -> None:
        """Mark the texts of those outputs as doubtful in which the words around the terms are less likely, in which a target with a
        capital, as a noun, is where the verifier itself writes a word in small letters, such as an article or a verb, or in which the
        verifier itself adds an ending to a target: des Apparats.
        """
        begins, ends = [], []
        for sentence, output in placed:
            mean = mean_around(output.hypothesis, sentence.terms, self._tokenizer, german=self._german)
            sentence.text.is_doubtful |= sentence.usual is not None and mean < sentence.usual - DOUBTFUL_WORSE
            sentence.text.is_doubtful |= self._german and any(
                not article.fits for article in articles_of(self._tokenizer.decode(output.hypothesis.ids), sentence.terms)
            )
            if not sentence.text.is_doubtful:
                ids = [token for token in output.hypothesis.ids if token != self._engine.eos]
                begins += [(sentence, ids, place) for place in capital_targets(ids, sentence.terms, self._tokenizer)]
                ends += [(sentence, ids, place) for place in target_ends(ids, sentence.terms, self._tokenizer)]
        for forced, is_misfit in ((begins, is_small_word), (ends, is_ending)):
            for sentence, hypothesis, place in self._forced(forced):
                written = self._tokenizer.decode(hypothesis.ids)[len(self._tokenizer.decode(hypothesis.ids[:place])) :]
                sentence.text.is_doubtful |= is_misfit(written)
                part = sentence.text.parts[sentence.place]
                sentence.text.parts[sentence.place] = replace(part, rounds=sentence.rounds)

    def _lacking(self, text: DecodedText) -> Iterator[_Sentence]:
        for index, (part, source) in enumerate(zip(text.parts, text.variant.segments.texts, strict=True)):
            matches = self.glossary.find(source)
            present = come_out([match.term for match in matches], self._tokenizer.decode(part.ids))
            if not all(present):
                yield _Sentence(text, index, matches, part.rounds, [_Output(part, sum(present))])

    def _best_of(self, sentence: _Sentence, most_worse: float = MOST_WORSE) -> _Output | None:
        """The most likely of the complete outputs that are at most so much worse than the usual translation; None if there is none."""
        for each in sorted((each for each in sentence.found if each.complete), key=lambda each: -each.score):
            if sentence.usual is None or is_all_terms(sentence.source, sentence.matches):
                return each
            if mean_around(each.hypothesis, sentence.terms, self._tokenizer, german=self._german) >= sentence.usual - most_worse:
                return each
        return None

    def _with_articles(self, sentence: _Sentence, best: _Output) -> _Output:
        """`best`, or the output that differs from it in articles alone: the most likely ones there that fit the genders of the targets."""
        for number in range(len(sentence.matches) if self._german else 0):
            texts = with_articles(self._tokenizer.decode(best.hypothesis.ids), sentence.terms, number)
            earlier = len(sentence.found)
            self._force([(sentence, ids, len(ids) + 1) for ids in self._tokenizer.encode_targets(texts)], continues=False)
            fitting = [each for each in sentence.found[earlier:] if each.complete]
            best = max(fitting, key=lambda each: article_score(each.hypothesis, sentence.terms, number, self._tokenizer), default=best)
        return best

    def _score_usual(self, waiting: Sequence[_Sentence]) -> None:
        usual = [[token for token in each.found[0].hypothesis.ids if token != self._engine.eos] for each in waiting]
        for sentence, hypothesis, _ in self._forced([(each, ids, len(ids) + 1) for each, ids in zip(waiting, usual, strict=True)]):
            sentence.usual = sum(hypothesis.log_probabilities) / max(len(hypothesis.log_probabilities), 1)

    def _try_replaced(self, waiting: Sequence[_Sentence]) -> None:
        tries = [(sentence, replaced) for sentence in waiting for replaced in replaced_sources(sentence.source, sentence.matches)]
        sources = [make_sentence(self._tokenizer, self._engine.eos, number, replaced.source) for number, (_, replaced) in enumerate(tries)]
        fitting = [sentence for sentence in sources if len(sentence.source) <= self._engine.longest_source]
        outputs: dict[tuple[int, str], _Sentence] = {}
        for hypothesis in self._engine.decode(fitting):
            sentence, replaced = tries[hypothesis.number]
            sentence.rounds += hypothesis.rounds
            output = replaced.restore(self._tokenizer.decode(hypothesis.ids))
            if output is not None and any(come_out(sentence.terms, output)):
                outputs[id(sentence), output] = sentence
        encoded = self._tokenizer.encode_targets([output for _, output in outputs])
        self._force([(sentence, ids, len(ids) + 1) for sentence, ids in zip(outputs.values(), encoded, strict=True)], continues=False)

    def _in_parts(self, sentence: _Sentence) -> _Output | None:
        """Translate the texts between the terms of a sentence one by one."""
        variant = between_terms(sentence.source, sentence.matches)
        sentences = [make_sentence(self._tokenizer, self._engine.eos, number, text) for number, text in enumerate(variant.segments.texts)]
        outputs = [""] * len(sentences)
        for hypothesis in self._engine.decode(sentences):
            outputs[hypothesis.number] = self._tokenizer.decode(hypothesis.ids)
            sentence.rounds += hypothesis.rounds
        restored = variant.restore(outputs)
        encoded = self._tokenizer.encode_targets([] if restored is None else [restored.text])
        self._force([(sentence, ids, len(ids) + 1) for ids in encoded], continues=False)
        return self._best_of(sentence)

    def _search(self, sentence: _Sentence, *, keeps_rest: bool) -> None:
        states = sentence.unfinished
        while states:
            terms, earlier = min(state.terms for state in states), len(sentence.found)
            places = (place for state in states for place in self._places(sentence, state, replaces=keeps_rest))
            forced = [(sentence, ids, len(ids) + 1 if keeps_rest else end) for ids, end in places]
            self._force(forced, continues=not keeps_rest)
            new = sentence.found[earlier:]
            if any(output.complete for output in new):
                return
            states = _best(output for output in new if terms < output.terms < len(sentence.matches))

    def _places(self, sentence: _Sentence, state: _Output, *, replaces: bool) -> Iterator[tuple[list[int], int]]:
        """The ids of an output with a missing term before each of its words, or also in the place of it if it `replaces` words, and
        the number of those up to the end of the term.
        """
        ids = [token for token in state.hypothesis.ids if token != self._engine.eos]
        words = [place for place in range(len(ids)) if place == 0 or self._word_starts[ids[place]]] + [len(ids)]
        present = come_out(sentence.terms, self._tokenizer.decode(ids))
        missing = dict.fromkeys(term for term, there in zip(sentence.terms, present, strict=True) if not there)
        for place, following in zip(words, [*words[1:], len(ids)], strict=True):
            if place < state.fixed:
                continue
            head = self._tokenizer.decode(ids[:place])
            initial = begins_sentence(f"{head} ", len(head) + 1)
            for term in missing:
                target = capitalised(term.target) if initial else term.target
                (start,) = self._tokenizer.encode_targets([f"{head} {target}" if head else target])
                yield [*start, *ids[place:]], len(start)
                if replaces and following > place:
                    yield [*start, *ids[following:]], len(start)

    def _force(self, outputs: Sequence[tuple[_Sentence, Sequence[int], int]], *, continues: bool) -> None:
        """Add outputs to those that were found (see `_forced`). If the search `continues` after the forced ids, they stay."""
        for sentence, hypothesis, forced in self._forced(outputs):
            if hypothesis.ids[-1:] == [self._engine.eos]:
                sentence.found.append(self._judged(sentence, hypothesis, forced if continues else 0))

    def _forced(self, outputs: Sequence[tuple[_Sentence, Sequence[int], int]]) -> Iterator[tuple[_Sentence, Hypothesis, int]]:
        """Decode `outputs`: sentences with ids and a number. That number of ids, and EOS, begin the output; the other ids are a
        draft. Yield the number of forced ids too.
        """
        asked, before = [], len(self._tokenizer.add_target_tokens([], self._engine.eos)) - 1
        for number, (sentence, ids, fixed) in enumerate(outputs):
            # Of the draft, one token more than the prefix is needed.
            draft = [*self._tokenizer.add_target_tokens(ids, self._engine.eos), self._engine.eos]
            asked.append(make_sentence(self._tokenizer, self._engine.eos, number, sentence.source, draft=draft, prefix=before + fixed))
        for hypothesis in self._engine.decode(asked):
            sentence, _, fixed = outputs[hypothesis.number]
            sentence.rounds += hypothesis.rounds
            yield sentence, hypothesis, before + fixed

    def _judged(self, sentence: _Sentence, hypothesis: Hypothesis, fixed: int) -> _Output:
        output, usual = (self._tokenizer.decode(each.ids) for each in (hypothesis, sentence.found[0].hypothesis))
        terms = sum(come_out(sentence.terms, output))
        whole = sentence.text.with_part(sentence.place, hypothesis, self._tokenizer.decode)
        complete = whole is not None and terms == len(sentence.matches)
        complete = complete and not is_spoilt(sentence.source, usual, output, sentence.matches)
        return _Output(hypothesis, terms, complete, fixed)


def _best(outputs: Iterable[_Output]) -> list[_Output]:
    return sorted(outputs, key=lambda output: (output.terms, output.score))[-_KEPT:]
