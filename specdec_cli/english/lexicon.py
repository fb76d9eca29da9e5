"""Inflected forms and possible tags of English words, from lemminflect.

lemminflect (MIT licence) takes them from the SPECIALIST Lexicon of the US National Library of Medicine. Tags are those
of the Penn Treebank: NN, NNS; VB, VBP, VBZ, VBD, VBN, VBG; JJ, JJR, JJS; RB, RBR, RBS.
"""

from collections.abc import Mapping
from functools import lru_cache

from specdec_cli.english.words import CLOSED

_CACHE_SIZE = 1 << 16
_OPEN_CLASSES = ("NOUN", "VERB", "ADJ", "ADV")
_SUFFIXES = (
    ("ent", "ence"), ("ant", "ance"), ("ence", "ent"), ("ance", "ant"), ("ity", ""), ("ful", ""), ("al", ""), ("", "al"),
    ("ness", ""), ("ment", ""), ("ion", "e"), ("ion", ""), ("ation", "e"), ("ing", "ion"), ("ous", ""), ("th", ""), ("ty", ""),
    ("ive", "ion"), ("ion", "ive"), ("e", "ion"), ("", "ion"), ("", "ment"), ("ence", "ently"), ("ity", "ely"), ("y", "ical"),
)  # fmt: skip
_PARTS = ({"JJ"}, {"NN", "NNS"}, {"VB", "VBD", "VBN"}, {"RB"})


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

    readings_of: dict[str, str] = {}
    lemmas = getAllLemmas(word)
    for part in _OPEN_CLASSES:
        for lemma in lemmas.get(part, ()):
            forms = getAllInflections(lemma, part)
            # If past tense and participle are equal, lemminflect lists only one of them.
            if "VBD" in forms:
                forms.setdefault("VBN", forms["VBD"])
            for tag, spellings in forms.items():
                if word in spellings:
                    readings_of.setdefault(tag, lemma)
    return readings_of


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
    inflected_form = inflected(lemma, other) if lemma else ""
    return inflected_form if inflected_form != word and inflected_form.isalpha() else ""


def is_known(word: str) -> bool:
    """Whether a lower-case word is an English word of the lexicon; every word with a hyphen is taken for one."""
    return word in CLOSED or bool(readings(word)) or ("-" in word) or ("'" in word and is_known(word.partition("'")[0]))


@lru_cache(maxsize=_CACHE_SIZE)
def as_adverb(word: str) -> str:
    """The adverb in -ly of the lower-case adjective `word`; "" if there is none, or `word` is not an adjective."""
    if "JJ" not in readings(word):
        return ""
    for adverb in (f"{word}ly", f"{word[:-1]}ily", f"{word[:-1]}y", f"{word}ally"):
        if (
            (adverb != f"{word[:-1]}y" or word.endswith("le"))
            and (not adverb.endswith("ily") or word.endswith("y"))
            and "RB" in readings(adverb)
        ):
            return adverb
    return ""


@lru_cache(maxsize=_CACHE_SIZE)
def as_adjective(word: str) -> str:
    """The adjective from which the lower-case adverb `word` in -ly is derived; "" if there is none."""
    if not word.endswith("ly") or readings(word).keys() != {"RB"}:
        return ""
    for adjective in (word[:-2], f"{word[:-3]}y", f"{word[:-1]}e", word[:-4]):
        if "JJ" in readings(adjective) and as_adverb(adjective) == word:
            return adjective
    return ""


@lru_cache(maxsize=_CACHE_SIZE)
def relatives(word: str) -> tuple[str, ...]:
    """Words of another part of speech with the same stem as the lower-case `word` (important: importance)."""
    tags = readings(word).keys()
    related = []
    for old, new in _SUFFIXES if tags else ():
        other = word.removesuffix(old) + new
        if word.endswith(old) and len(other) > 4 and other not in CLOSED:
            others = readings(other).keys()
            if others and not any(tags & part and others & part for part in _PARTS):
                related.append(other)
    return tuple(related)
