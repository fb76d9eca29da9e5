"""Forms and readings of English words, from lemminflect.

lemminflect (MIT licence) takes them from the SPECIALIST Lexicon of the US National Library of Medicine. Tags are those
of the Penn Treebank: NN, NNS; VB, VBP, VBZ, VBD, VBN, VBG; JJ, JJR, JJS; RB, RBR, RBS.
"""

from collections.abc import Mapping
from functools import lru_cache

from specdec_cli.corruption.closed import CLOSED
from specdec_cli.errors import UsageError

_KEPT = 1 << 16
_OPEN_CLASSES = ("NOUN", "VERB", "ADJ", "ADV")


@lru_cache(maxsize=_KEPT)
def readings(word: str) -> Mapping[str, str]:
    """The tags that a lower-case word can have, each with its lemma; none for a word of a closed class."""
    if word in CLOSED or not word.isalpha():
        return {}
    from lemminflect import getAllInflections, getAllLemmas

    found: dict[str, str] = {}
    lemmas = getAllLemmas(word)
    for part in _OPEN_CLASSES:
        for lemma in lemmas.get(part, ()):
            forms = getAllInflections(lemma, part)
            # Where past tense and participle agree, the table has only one of them.
            if "VBD" in forms:
                forms.setdefault("VBN", forms["VBD"])
            for tag, spellings in forms.items():
                if word in spellings:
                    found.setdefault(tag, lemma)
    return found


@lru_cache(maxsize=_KEPT)
def inflected(lemma: str, tag: str) -> str:
    """The form of a lemma that bears `tag`, or "" where the lexicon has none."""
    from lemminflect import getInflection

    spellings = getInflection(lemma, tag, inflect_oov=False)
    return str(spellings[0]) if spellings else ""


def form(word: str, tag: str, other: str) -> str:
    """`word`, read as `tag`, with the tag `other`; "" where there is no such form or it looks the same."""
    lemma = readings(word).get(tag)
    found = inflected(lemma, other) if lemma else ""
    return found if found != word and found.isalpha() else ""


def is_known(word: str) -> bool:
    """Whether a lower-case word (also one with hyphen or apostrophe) is English."""
    return word in CLOSED or bool(readings(word)) or ("-" in word) or ("'" in word and is_known(word.partition("'")[0]))


def require() -> None:
    """Raise UsageError where lemminflect is missing."""
    try:
        import lemminflect  # noqa: F401
    except ImportError as error:
        raise UsageError("corrupt needs lemminflect: pip install 'specdec[gec]'") from error
