"""Checks of outputs into which terms were brought: whether they are still translations of their sentence, and their articles fit.

The genders of German nouns are told by their endings: those of word formation (-ung, -chen) and the last parts of frequent compounds
(-vertrag, -karte). The longest ending that is listed decides; a noun without one has no known gender.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from specdec_cli.decoding.sentence import Hypothesis
from specdec_cli.text.checks import output_warnings
from specdec_cli.text.glossary import Match, Phrases, Term
from specdec_cli.text.locale.languages import known, known_pairs
from specdec_cli.text.tokenize.tokenizer import Tokenizer

_AMBIGUOUS = ("sein", "ihr")
"""Words that are determiners if they fit a noun, and else probably a verb or a pronoun."""
_WORD = re.compile(r"(?<![^\W\d_])(?P<word>[^\W\d_]++)\s++\Z")
_ADJECTIVE = re.compile(r"[^\W\d_]+e[nmrs]?")
_MOST_ADJECTIVES = 2
_RELATIVE = re.compile(r",\s*\Z")
"""The text before a relative pronoun, a comma. German relative pronouns have the forms of articles."""


@cache
def _endings() -> dict[str, str]:
    genders = known("de")["genders"].items()
    return {ending: "" if gender == "unknown" else gender for gender, endings in genders for ending in endings.split()}


@cache
def _articles() -> dict[str, dict[str, str]]:
    """For each article, or other determiner, of one word, the forms of its group with the genders that they stand before."""
    articles = known("de")["articles"]
    groups = [known_pairs(group.split(", ")) for group in articles["forms"]]
    for stems, endings in articles["stems"].items():
        forms = known_pairs(endings.split(", "))
        groups += [{stem + ending: genders for ending, genders in forms.items()} for stem in stems.split()]
    return {article: forms for forms in groups for article in forms if " " not in article}


def gender(noun: str) -> str:
    """The gender of a German noun in the singular: m, f or n; "" if its ending does not tell it."""
    endings, word = _endings(), noun.lower()
    return next((endings[word[start:]] for start in range(len(word)) if word[start:] in endings), "")


class Article(NamedTuple):
    """The article of a noun, from the offset `start` up to `end` of its text: whether it `fits` the gender of the noun, and its forms
    that do.
    """

    start: int
    end: int
    fits: bool
    forms: tuple[str, ...]


def article_of(text: str, start: int, end: int) -> Article | None:
    """The article of the German noun in the singular from `start` to `end` of `text`; adjectives may be between them. None without an
    article, or if the gender is not known.
    """
    known, place = gender(text[start:end]), start
    if not known or not text[start].isupper():
        return None
    for _ in range(_MOST_ADJECTIVES + 1):
        match = _WORD.search(text, 0, place)
        if match is None:
            return None
        written, place = match["word"], match.start()
        forms = _articles().get(written.lower(), {})
        if forms and not _RELATIVE.search(text, 0, place):
            fitting = [form for form, genders in forms.items() if known in genders]
            if written.lower() in _AMBIGUOUS and written.lower() not in fitting:
                return None
            cased = tuple(form[0].upper() + form[1:] for form in fitting) if written[0].isupper() else tuple(fitting)
            return Article(*match.span("word"), written.lower() in fitting, cased)
        if not _ADJECTIVE.fullmatch(written):
            return None
    return None


MOST_WORSE = 2.0
"""By how much, in nats a token, the words around the terms may be less likely than the usual translation."""
LAST_WORSE = 4.0
"""The same, for a sentence that has no better output, such as one whose verb is replaced by a noun."""
DOUBTFUL_WORSE = 1.0
"""The same, for an output that is taken with a warning."""
_ENDING, _SMALL_WORD = re.compile(r"[^\W\d_]{1,2}(?!\w)"), re.compile(r"(?<!\s)\s++[a-z\u00df-\u00ff]")
_PLURAL = re.compile(r"[^su\W]s\Z")
_BREAK = re.compile(r"[.!?\u2026][\"'\u201c\u201d\u00bb)]*\s")
_END = re.compile(r"[.!?\u2026][\"'\u201c\u201d\u00bb)]*$")
_WORD_BREAK = re.compile(rf"(?<!\d){_BREAK.pattern}")


def is_spoilt(source: str, usual: str, output: str, matches: Sequence[Match]) -> bool:
    """Whether `output` has a fault that `usual`, the usual translation of `source`, does not have: one of `output_warnings`, a
    target more often than its term, a second full stop after a target, more sentences, no punctuation at the end, or
    words beside the targets if `source` has none beside the terms.
    """
    if _END.search(usual) and not _END.search(output):
        return True
    if set(output_warnings(source, output)) - set(output_warnings(source, usual)):
        return True
    wanted = Counter(match.term.target for match in matches)
    phrases = Phrases(wanted)
    there = phrases.find(output)
    had, has = (Counter(found[0] for found in each) for each in (phrases.find(usual), there))
    if any(has[target] > max(wanted[target], had[target]) or (target[-1] == "." and f"{target}." in output) for target in wanted):
        return True
    rest = _outside(output, [found[1:3] for found in there])
    if is_all_terms(source, matches) and any(map(str.isalnum, rest)):
        return True
    # A number with a full stop is often an ordinal number.
    return len(_WORD_BREAK.findall(rest)) > max(len(_BREAK.findall(source)), len(_BREAK.findall(usual)))


def is_all_terms(source: str, matches: Sequence[Match]) -> bool:
    """Whether `source` has no words beside its terms, as a heading or a table cell often has none."""
    return not any(map(str.isalnum, _outside(source, [(match.start, match.end) for match in matches])))


def _outside(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """`text` with an underscore in the place of each of the `spans`, which are in order."""
    edges = [(0, 0), *spans, (len(text), len(text))]
    return "_".join(text[before[1] : after[0]] for before, after in pairwise(edges))


def articles_of(output: str, terms: Sequence[Term]) -> list[Article]:
    """The articles in the German `output` of those targets of `terms` that are single nouns, if the term is no plural, as it seems."""
    nouns = (term.target for term in terms if not _PLURAL.search(term.source))
    articles = (article_of(output, start, end) for _, start, end in Phrases(nouns).find(output) if " " not in output[start:end])
    return [article for article in articles if article is not None]


def mean_around(hypothesis: Hypothesis, terms: Sequence[Term], tokenizer: Tokenizer, *, german: bool = False) -> float:
    """The mean log probability of the tokens of `hypothesis` that are in no target of `terms`.

    If the output is `german`, an article that fits the gender of a target does not count: that of the usual noun may be more likely.
    """
    output = tokenizer.decode(hypothesis.ids)
    spans = [match[1:3] for match in Phrases(term.target for term in terms).find(output)]
    spans += [(article.start, article.end) for article in articles_of(output, terms) if article.fits] if german else []
    ends = tokenizer.ends(hypothesis.ids)
    around = [
        score
        for start, end, score in zip([0, *ends], ends, hypothesis.log_probabilities, strict=False)
        if not any(first < end and start < last for first, last in spans)
    ]
    return sum(around) / max(len(around), 1)


def misfits(
    ids: Sequence[int], terms: Sequence[Term], tokenizer: Tokenizer, *, german: bool = False
) -> Iterator[tuple[int, re.Pattern[str]]]:
    """Yield places in `ids`, an output without EOS, at which the verifier is asked for its own next token. Each place is an index in `ids`
    and a pattern; if the text that the verifier writes there matches it, the target does not fit.

    At the end of a target, the pattern is that of an ending (Apparats). At the beginning of a `german` noun, it is that of a word in small
    letters, such as a verb.
    """
    ends = tokenizer.ends(ids)
    for target, start, end in Phrases(term.target for term in terms).find(tokenizer.decode(ids)):
        if german and target[0].isupper() and (begin := bisect_right(ends, start)) > 0:
            yield begin, _SMALL_WORD
        if target[-1].isalpha() and end in ends:
            yield ends.index(end) + 1, _ENDING
