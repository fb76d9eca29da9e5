"""Errors of adjectives and adverbs, and of words with the same stem."""

from functools import lru_cache
from random import Random

from specdec_cli.corruption.closed import BE, CLOSED
from specdec_cli.corruption.edits import TokenEdit, delete_token, replace_token
from specdec_cli.corruption.lexicon import readings
from specdec_cli.corruption.tables import pairs, word_set
from specdec_cli.corruption.tokens import Sentence

_ING_AND_ED = pairs(
    "interesting>interested boring>bored exciting>excited surprising>surprised tiring>tired confusing>confused "
    "disappointing>disappointed amazing>amazed annoying>annoyed frightening>frightened shocking>shocked relaxing>relaxed "
    "embarrassing>embarrassed satisfying>satisfied fascinating>fascinated worrying>worried frustrating>frustrated "
    "depressing>depressed exhausting>exhausted inspiring>inspired convincing>convinced terrifying>terrified"
)
_PARTICIPLES = dict(_ING_AND_ED) | {ed: ing for ing, ed in _ING_AND_ED}
_SUFFIXES = (
    ("ent", "ence"), ("ant", "ance"), ("ence", "ent"), ("ance", "ant"), ("ity", ""), ("ful", ""), ("al", ""), ("", "al"),
    ("ness", ""), ("ment", ""), ("ion", "e"), ("ion", ""), ("ation", "e"), ("ing", "ion"), ("ous", ""), ("th", ""), ("ty", ""),
    ("ive", "ion"), ("ion", "ive"), ("e", "ion"), ("", "ion"), ("", "ment"), ("ence", "ently"), ("ity", "ely"), ("y", "ical"),
)  # fmt: skip
_NOT_COMPARED = word_set("more most less least other number former latter upper lower outer inner further later elder")
_SHARE_AFTER_BE = 0.3
# If one of these words stands shortly before "well", it may be an adjective ("she looks well") or part of a phrase ("as well").
_NOT_BEFORE_WELL = BE | word_set(
    "as be feel feels feeling felt look looks looking looked get gets getting got sound sounds oh mean means meant"
)
# Words that only look as if they were derived from another one.
_UNRELATED = word_set(
    "several later property department station mission portion passion section version million billion question champion "
    "position charity apartment according"
)
_PARTS = ({"JJ"}, {"NN", "NNS"}, {"VB", "VBD", "VBN"}, {"RB"})


@lru_cache(maxsize=1 << 16)
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


@lru_cache(maxsize=1 << 16)
def as_adjective(word: str) -> str:
    """The adjective from which the lower-case adverb `word` in -ly is derived; "" if there is none."""
    if not word.endswith("ly") or readings(word).keys() != {"RB"}:
        return ""
    for adjective in (word[:-2], f"{word[:-3]}y", f"{word[:-1]}e", word[:-4]):
        if "JJ" in readings(adjective) and as_adverb(adjective) == word:
            return adjective
    return ""


@lru_cache(maxsize=1 << 16)
def relatives(word: str) -> tuple[str, ...]:
    """Words of another part of speech with the same stem as the lower-case `word` (important: importance)."""
    tags = readings(word).keys()
    found = []
    for old, new in _SUFFIXES if tags else ():
        other = word.removesuffix(old) + new
        if word.endswith(old) and len(other) > 4 and other not in CLOSED:
            others = readings(other).keys()
            if others and not any(tags & part and others & part for part in _PARTS):
                found.append(other)
    return tuple(found)


def adjective_form(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Replace an adverb by the adjective or vice versa (well by good), boring by bored, a comparative by a wrong one (more bigger).

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    words = sentence.words
    word, following = words[i], readings(words[i + 1])
    if word == "well" and i and not sentence.is_wordlike(i + 1):
        return replace_token(sentence, i, "good") if _NOT_BEFORE_WELL.isdisjoint(words[max(i - 3, 0) : i]) else None
    if not sentence.is_plain(i):
        return None
    if word in _PARTICIPLES:
        return replace_token(sentence, i, _PARTICIPLES[word])
    if word in ("more", "most") and "JJ" in following and "NN" not in following:
        return delete_token(sentence, i) if "than" in words[i:] else None
    tags = readings(word)
    for tag, sign in (("JJR", "more"), ("JJS", "most")):
        lemma = tags.get(tag)
        if lemma and word not in _NOT_COMPARED and words[i - 1] not in ("more", "most"):
            return replace_token(sentence, i, f"{sign} {random.choice((word, word, lemma))}")
    if "NN" in tags or "VB" in tags:
        return None
    if as_adjective(word) and not (words[i + 1] == "," and i in sentence.initials):
        return replace_token(sentence, i, as_adjective(word))
    adverb = as_adverb(word)
    fits = len(word) > 4 and ("NN" in following or "NNS" in following or (words[i - 1] in BE and random.random() < _SHARE_AFTER_BE))
    return replace_token(sentence, i, adverb) if adverb and fits else None


def derivation(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Replace a word by one with the same stem but another part of speech (important > importance).

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    if len(sentence.words[i]) < 5 or sentence.words[i] in _UNRELATED or not sentence.is_plain(i):
        return None
    others = relatives(sentence.words[i])
    return replace_token(sentence, i, random.choice(others)) if others else None
