"""Errors of number and articles that a few words of English show: `one of my friend`, `an advice`."""

import re
from collections.abc import Callable

from specdec_cli.english.words import POSSESSIVES, UNCOUNTABLE, word_set
from specdec_cli.text.edits import Edit
from specdec_cli.text.spelling.ngrams import SCORE_WEIGHT, NgramModel

_ONE_OF = re.compile(
    rf"\b(?:one|each|neither|either|both|two|three|four|five|several|many|few) of (?:{'|'.join(sorted(POSSESSIVES))}|the|these|those)"
    r" (?P<noun>[a-z]{3,}(?<!s))(?= (?:is|are|was|were|has|have|had|will|can|lives?|works?|[a-z]+ed|and|or|who|that|in|on|at|from|to)\b"
    r"|[.,;!?]|$)",
    re.IGNORECASE,
)
"""A group of which one or several are meant, and the singular of a noun that does not belong to a longer name of a thing."""
_AN_ADVICE = re.compile(
    r"\b(?P<article>an? )(?P<noun>advice|furniture|luggage|baggage|homework|housework|information|software|hardware|equipment|machinery)"
    r"(?= (?:about|from|on|for|to|that|which|and|or|in|with|of)\b|[.,;!?]|$)"
)
"""An article before a noun that has no plural."""
_GROUPS = word_set(
    "team family group public staff police crew band class club committee company council audience crowd army jury party pair set lot trio "
    "duo kind type sort cast household generation population press enemy clergy nobility elite gang herd fleet squad panel "
    "board department government ministry village town community country world nation person rest remainder crop batch collection series "
    "species data media"
)
"""Singular nouns of which one may say "one of the"; and a person, of which the plural is another word."""
_LEAST_RATIO, _RAREST_PLURAL = -12.0, 1 / 16
"""The least log ratio by which a plural makes the text more probable, and its least count in n-grams as a share of the singular's."""
SCORE = 1.0
"""The score of an article that is wrong whatever words are around it."""


def phrase_edits(text: str, ngrams: NgramModel, knows: Callable[[str], bool]) -> list[Edit]:
    """The edits of such errors in a text. `knows` says whether a word is known; the n-grams, whether the plural is more probable."""
    found = []
    for each in _ONE_OF.finditer(text):
        start, end = each.span("noun")
        noun, plural = each["noun"], _plural(each["noun"])
        if noun.lower() in _GROUPS | UNCOUNTABLE or not knows(plural) or ngrams.count(plural) < _RAREST_PLURAL * ngrams.count(noun):
            continue
        edit = Edit(start, end, noun, plural)
        score = SCORE_WEIGHT * (ngrams.log_ratio(text, edit) - _LEAST_RATIO)
        found += [edit._replace(score=score)] if score > 0 else []
    return found + [Edit(*each.span("article"), each["article"], "", score=SCORE) for each in _AN_ADVICE.finditer(text)]


def _plural(noun: str) -> str:
    """The regular plural of an English noun."""
    if noun.endswith("y") and noun[-2:-1] not in tuple("aeiou"):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("x", "z", "ch", "sh")) else f"{noun}s"
