"""Words that are formed of known ones, with prefixes and suffixes or as compounds, and may be right though no lexicon has them."""

import re
from collections.abc import Collection

from specdec_cli.english.words import word_list

_PREFIXES = word_list(
    "un re de dis over under out non pre post anti counter inter super sub mis co multi micro semi self fore mid auto bio"
)
_SUFFIXES = word_list(
    "s es ed er ers ing ings ly ish ise ize ised ized ises izes able ible less ness ful ism ist ists ity ation ative ive ment"
)
_ENDS = ("", "e", "y")
"""What a suffix takes from the end of a stem."""
_DOUBLED = re.compile(r"(.)\1\Z")
_STEM = 4
"""The fewest letters of a stem, and of each part of a compound."""


def is_formed(word: str, known: Collection[str]) -> bool:
    """Whether a word in small letters is formed of `known` words: fastballer, untucked."""
    stems = {word, *(word.removeprefix(prefix) for prefix in _PREFIXES if word.startswith(prefix))}
    for suffix in _SUFFIXES:
        for stem in [stem.removesuffix(suffix) for stem in stems if stem.endswith(suffix)]:
            stems |= {stem + end for end in _ENDS} | {_DOUBLED.sub(r"\1", stem)}
    if any(len(stem) >= _STEM and stem in known for stem in stems):
        return True
    return any(stem[:place] in known and stem[place:] in known for stem in stems for place in range(_STEM, len(stem) - _STEM + 1))
