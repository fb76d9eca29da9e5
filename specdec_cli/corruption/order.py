"""Errors of word order."""

from random import Random

from specdec_cli.corruption.closed import AUXILIARIES, MIDDLE_ADVERBS, QUESTION_WORDS, SUBJECTS
from specdec_cli.corruption.context import verb_tag
from specdec_cli.corruption.edits import TokenEdit, swap_tokens
from specdec_cli.corruption.lexicon import readings
from specdec_cli.corruption.tables import word_set
from specdec_cli.corruption.tokens import Sentence

_FIRST = word_set("such enough so very too not all both just")
_SHARE_OF_NOUNS = 0.15
_SHARE_OF_OTHERS = 0.01


def word_order(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Swap two adjacent words: adverb and verb, adjective and noun, or subject and auxiliary of a question; rarely any two words.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    words = sentence.words
    word, following = words[i], words[i + 1]
    if not following.isalpha() or word == following:
        return None
    adverb = (word in MIDDLE_ADVERBS and (following in AUXILIARIES or verb_tag(sentence, i + 1) != "")) or (
        following in MIDDLE_ADVERBS and (word in AUXILIARIES or verb_tag(sentence, i) != "")
    )
    left = words[i - 1]
    question = left in QUESTION_WORDS and (
        (word in AUXILIARIES and following in SUBJECTS)
        or (word in SUBJECTS and following in AUXILIARIES and i - 1 not in sentence.initials)
    )
    if adverb or question or (word in _FIRST and random.random() < _SHARE_OF_NOUNS):
        edit = swap_tokens(sentence, i)
        return edit and edit.covering(i - 1, i + 1) if question else edit
    if not (sentence.is_plain(i) and sentence.is_plain(i + 1)):
        return None
    described = "JJ" in readings(word) and "NN" not in readings(word) and readings(following).keys() & {"NN", "NNS"}
    open_class = bool(readings(word)) and bool(readings(following))
    share = _SHARE_OF_NOUNS if described else _SHARE_OF_OTHERS if open_class else 0.0
    return swap_tokens(sentence, i) if random.random() < share else None
