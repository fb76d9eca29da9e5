"""Inflected forms and possible tags of English words, from lemminflect.

lemminflect (MIT licence) takes them from the SPECIALIST Lexicon of the US National Library of Medicine. Tags are those
of the Penn Treebank: NN, NNS; VB, VBP, VBZ, VBD, VBN, VBG; JJ, JJR, JJS; RB, RBR, RBS.
"""

from collections.abc import Mapping
from functools import lru_cache

from specdec_cli.corruption.closed import CLOSED

_CACHE_SIZE = 1 << 16
_OPEN_CLASSES = ("NOUN", "VERB", "ADJ", "ADV")


@lru_cache(maxsize=_CACHE_SIZE)
def readings(word: str) -> Mapping[str, str]:
    """The possible Penn Treebank tags of a lower-case word, each with the word's lemma; empty for function words, unknown
    ones, and without lemminflect."""
    if word in CLOSED or not word.isalpha():
        return {}
    try:
        from lemminflect import getAllInflections, getAllLemmas
    except ModuleNotFoundError:  # a light install: the types of errors are guessed from the endings of words
        return {}

    found: dict[str, str] = {}
    lemmas = getAllLemmas(word)
    for part in _OPEN_CLASSES:
        for lemma in lemmas.get(part, ()):
            forms = getAllInflections(lemma, part)
            # If past tense and participle are equal, lemminflect lists only one of them.
            if "VBD" in forms:
                forms.setdefault("VBN", forms["VBD"])
            for tag, spellings in forms.items():
                if word in spellings:
                    found.setdefault(tag, lemma)
    return found


def verb_lemma(word: str) -> str:
    """The lemma of a lower-case word as a finite verb, infinitive or form in -ing (goes: go); "" if it is none of these."""
    tags = readings(word)
    return next((tags[tag] for tag in ("VB", "VBZ", "VBD", "VBG") if tag in tags), "")


@lru_cache(maxsize=_CACHE_SIZE)
def inflected(lemma: str, tag: str) -> str:
    """The inflected form of `lemma` with the Penn Treebank tag `tag` (go, VBD: went); "" if the lexicon has none."""
    from lemminflect import getInflection

    spellings = getInflection(lemma, tag, inflect_oov=False)
    return str(spellings[0]) if spellings else ""


def form(word: str, tag: str, other: str) -> str:
    """The inflected form with the tag `other` of `word`, a form with the tag `tag` (goes, VBZ, VBD: went).

    "" if there is none or it equals `word`. Tags are those of the Penn Treebank.
    """
    lemma = readings(word).get(tag)
    found = inflected(lemma, other) if lemma else ""
    return found if found != word and found.isalpha() else ""


def is_known(word: str) -> bool:
    """Whether a lower-case word is an English word of the lexicon; every word with a hyphen is taken for one."""
    return word in CLOSED or bool(readings(word)) or ("-" in word) or ("'" in word and is_known(word.partition("'")[0]))
