"""Errors of articles: missing, superfluous or wrong ones, `a` for `an`."""

from random import Random

from specdec_cli.corruption.closed import ARTICLES, BE, DETERMINERS, PERFECT, PREPOSITIONS, UNCOUNTABLE
from specdec_cli.corruption.edits import TokenEdit, delete_token, insert_word, replace_token
from specdec_cli.corruption.lexicon import readings
from specdec_cli.corruption.tables import word_set
from specdec_cli.corruption.tokens import NAME, Sentence

_SILENT_H = ("hour", "honest", "honour", "honor", "heir")
_SPOKEN_WITH_Y_OR_W = ("uni", "use", "usa", "usu", "uti", "eu", "ubi", "one", "once")
_SPOKEN_WITH_VOWEL = ("unin", "unim", "unid", "unir")
_DEFINITE = word_set("same first second third last only next best most worst least former latter whole rest")
_INDEFINITE = word_set("lot few little bit couple number variety kind huge long great good new small young")
# Probability where the sentence does not show which article is right; often both are.
_SHARE_IF_UNCLEAR = 0.15
_SHARE_OF_NAMES = 0.25
_SHARE_OF_THE = 0.75
_SHARE_OF_THE_BEFORE_UNCOUNTABLE = 0.3
_SHARE_BEFORE_CONSONANTS = 0.15


def article_for(text: str) -> str:
    """The right article, `a` or `an`, before the word `text`, by its pronunciation; a word in capitals is read letter by letter."""
    lower = text.lower()
    if len(text) > 1 and text.isupper():
        return "an" if text[0] in "AEFHILMNORSX" else "a"
    if lower.startswith(_SILENT_H):
        return "an"
    if lower.startswith(_SPOKEN_WITH_Y_OR_W) and not lower.startswith(_SPOKEN_WITH_VOWEL):
        return "a"
    return "an" if lower[0] in "aeiou" else "a"


def article_drop(sentence: Sentence, i: int, _: Random) -> TokenEdit | None:
    """Remove an article.

    Returns None if this error is impossible at token i.
    """
    return delete_token(sentence, i) if sentence.words[i] in ARTICLES and sentence.is_wordlike(i + 1) else None


def article_insert(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Insert an article before a noun without one, a predicate adjective or a name.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    words = sentence.words
    left = words[i - 1]
    if words[i] == NAME:
        return insert_word(sentence, i, "the") if left in PREPOSITIONS and random.random() < _SHARE_OF_NAMES else None
    if not sentence.is_plain(i) or not (i in sentence.initials or _opens_noun_phrase(left)):
        return None
    tags = readings(words[i])
    if "VBG" in tags or (left in PERFECT and "VBN" in tags) or (left == "to" and "VB" in tags):
        return None
    if "JJ" in tags and left in BE and not sentence.is_wordlike(i + 1):
        return insert_word(sentence, i, article_for(words[i]))
    if not ("NNS" in tags or ("NN" in tags and not tags.keys() & {"VBD", "RB"}) or _precedes_noun(sentence, i)):
        return None
    uncountable = not {words[i], words[i + 1]}.isdisjoint(UNCOUNTABLE)  # "a good news"
    share = _SHARE_OF_THE_BEFORE_UNCOUNTABLE if uncountable else _SHARE_OF_THE
    article = "the" if random.random() < share or i in sentence.initials else article_for(words[i])
    return insert_word(sentence, i, article)


def _opens_noun_phrase(left: str) -> bool:
    """Whether a noun phrase without article can follow the word `left`: a preposition, be, have, or a word that is only a verb."""
    if left in PREPOSITIONS or left in BE or left in PERFECT:
        return True
    tags = readings(left)
    return bool(tags.keys() & {"VB", "VBZ", "VBD", "VBG"}) and not tags.keys() & {"NN", "NNS", "JJ"}


def _precedes_noun(sentence: Sentence, i: int) -> bool:
    tags = readings(sentence.words[i])
    return "JJ" in tags and bool(readings(sentence.words[i + 1]).keys() & {"NN", "NNS"})


def article_swap(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Replace `a` or `an` by `the` or vice versa, mostly where the next word shows which article is right (the first, a lot).

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    words = sentence.words
    if words[i] not in ARTICLES or not sentence.is_wordlike(i + 1) or words[i + 1] in DETERMINERS:
        return None
    tags = readings(words[i + 1])
    if words[i] == "the":
        clear = words[i + 1] in _DEFINITE or "JJS" in tags or ("NNS" in tags and "NN" not in tags)
        other = article_for(sentence.tokens[i + 1].text)
    else:
        clear = words[i + 1] in _INDEFINITE
        other = "the"
    if not clear and random.random() >= _SHARE_IF_UNCLEAR:
        return None
    edit = replace_token(sentence, i, other)
    return edit and edit.covering(i, i + 1)


def article_sound(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Put the wrong one of `a` and `an`: replace `an` by `a` before a vowel, `a` by `an` before a consonant.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    other = {"a": "an", "an": "a"}.get(sentence.words[i])
    if other is None or not sentence.is_wordlike(i + 1) or article_for(sentence.tokens[i + 1].text) == other:
        return None
    # "an" before a consonant is rarer than "a" before a vowel, unless the spelling suggests a vowel.
    if other == "an" and sentence.words[i + 1][:1] not in ("h", "u", "e", "o") and random.random() >= _SHARE_BEFORE_CONSONANTS:
        return None
    edit = replace_token(sentence, i, other)
    return edit and edit.covering(i, i + 1)
