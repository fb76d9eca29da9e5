"""Errors of auxiliary verbs: missing (he going) or superfluous (I am agree)."""

from random import Random

from specdec_cli.corruption.closed import DETERMINERS, HAVE, MODALS, PERFECT, SUBJECTS
from specdec_cli.corruption.context import is_singular, previous_word, verb_tag
from specdec_cli.corruption.edits import TokenEdit, delete_token, insert_word, replace_token
from specdec_cli.corruption.lexicon import form, readings
from specdec_cli.corruption.tables import word_set
from specdec_cli.corruption.tokens import Sentence

_BE = word_set("am is are was were been be")
_DO = frozenset({"do", "does", "did"})
_SINGULAR_MODALS = word_set("will would can could should must may might")
_BEFORE_PRESENT = {"i": "am", "he": "is", "she": "is", "it": "is", "you": "are", "we": "are", "they": "are"}
_SHARE_OF_BASE_FORMS = 0.6


def auxiliary_drop(sentence: Sentence, i: int, _: Random) -> TokenEdit | None:
    """Remove a form of be, have or do, or a modal, where the sentence is wrong without it.

    Returns None if this error is impossible at token i.
    """
    words = sentence.words
    word, following = words[i], words[i + 1]
    if i in sentence.initials or not sentence.is_wordlike(i - 1):
        return None
    tags = readings(following)
    if word in _BE:
        fits = bool(tags.keys() & {"VBG", "VBN", "JJ", "RB"}) or following in DETERMINERS
    elif word in PERFECT:
        fits = following == "been" or ("VBN" in tags and "VBD" not in tags)
    elif word in _DO:
        fits = following == "not"
    elif word in _SINGULAR_MODALS:
        fits = following in ("be", "not") or (is_singular(sentence, i) and verb_tag(sentence, i + 1) == "VB")
    else:
        return None
    edit = delete_token(sentence, i) if fits else None
    return edit and edit.covering(i, i + 1)


def auxiliary_insert(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Insert a form of be before a finite verb: I am agree, she is agree, they were went, it is depends.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    words = sentence.words
    left = words[i - 1]
    if left not in SUBJECTS or words[i] in MODALS or words[i] in HAVE:
        return None
    position = previous_word(sentence, i)
    tag = verb_tag(sentence, i) if position == i - 1 else ""
    if tag == "VBZ" and random.random() < _SHARE_OF_BASE_FORMS:
        edit = replace_token(sentence, i, f"is {form(words[i], tag, 'VB') or words[i]}")
        return edit and edit.covering(i - 1, i)
    if tag in ("VBP", "VBZ"):
        return insert_word(sentence, i, _BEFORE_PRESENT[left]).covering(i - 1, i)
    if tag == "VBD" and "VBN" not in readings(words[i]):
        return insert_word(sentence, i, "was" if left in ("i", "he", "she", "it") else "were").covering(i - 1, i)
    return None
