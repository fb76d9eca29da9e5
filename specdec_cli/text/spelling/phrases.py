"""Errors of number that a few words of English show: `one of my friend`."""

import re
from collections.abc import Callable

from specdec_cli.english.words import POSSESSIVES, UNCOUNTABLE, word_set
from specdec_cli.text.edits import Edit
from specdec_cli.text.spelling.ngrams import SCORE_WEIGHT, NgramModel

_ONE_OF = re.compile(
    r"\b(?:one|each|neither|either|both|two|three|four|five|several|many|few) of "
    rf"(?!(?:these|those) [a-z]+ (?:in|on|at|from|to)\b)(?:{'|'.join(sorted(POSSESSIVES))}|the|these|those)"
    r" (?:(?:most|least) [a-z]+ |[a-z]{3,}est |(?:best|worst|main|major|key) )?"
    r"(?P<noun>[a-z]{3,}(?<!s)(?<!men))(?= (?:is|are|was|were|has|have|had|will|can|lives?|works?|[a-z]+ed|who|that|in|on|at|from|to)\b"
    r"|[.,;!?]|$)",
    re.IGNORECASE,
)
"""Words such as "one of my", and a noun in the singular that ends its phrase."""
_GROUPS = word_set(
    "team family group public staff police crew band class club committee company council audience crowd army jury party pair set lot trio "
    "duo kind type sort cast household generation population press enemy clergy nobility elite gang herd fleet squad panel "
    "board department government ministry village town community country world nation person rest remainder crop batch collection series "
    "species data media number"
)
"""Nouns that stay in the singular after "one of the", since they name a group; and "person", whose plural is "people"."""
_LEAST_RATIO, _RAREST_PLURAL = -12.0, 1 / 16
"""A plural is taken if the logarithm of the ratio of the text's probability with and without it is above the first number, and if its
count in the n-grams is at least this share of the singular's.
"""


def phrase_edits(text: str, ngrams: NgramModel, knows: Callable[[str], bool]) -> list[Edit]:
    """The edits that mend these errors in `text`. `knows` tells whether a word is known, and `ngrams` whether the plural is probable."""
    found = []
    for each in _ONE_OF.finditer(text):
        start, end = each.span("noun")
        noun, plural = each["noun"], _plural(each["noun"])
        if noun.lower() in _GROUPS | UNCOUNTABLE or not knows(plural) or ngrams.count(plural) < _RAREST_PLURAL * ngrams.count(noun):
            continue
        edit = Edit(start, end, noun, plural)
        score = SCORE_WEIGHT * (ngrams.log_ratio(text, edit) - _LEAST_RATIO)
        found += [edit._replace(score=score)] if score > 0 else []
    return found


def _plural(noun: str) -> str:
    """The regular plural of an English noun."""
    if noun.endswith("y") and noun[-2:-1] not in tuple("aeiou"):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("x", "z", "ch", "sh")) else f"{noun}s"
