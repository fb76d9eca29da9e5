"""Errors of capital letters."""

from random import Random

from specdec_cli.corruption.edits import TokenEdit, set_text
from specdec_cli.corruption.lexicon import readings
from specdec_cli.corruption.tokens import NAME, Sentence

_SHARE_OF_NOUNS = 0.15


def lower_case(sentence: Sentence, i: int, _: Random) -> TokenEdit | None:
    """Put a word in lower case: at the start of the sentence, in `I`, in a name.

    Returns None if this error is impossible at token i.
    """
    text = sentence.tokens[i].text
    if not sentence.is_wordlike(i) or not text[0].isupper() or text[1:] != text[1:].lower():
        return None
    # A single capital that is not "I" or "A" is an initial.
    if len(text) == 1 and sentence.words[i] == NAME:
        return None
    return set_text(sentence, i, text[0].lower() + text[1:])


def upper_case(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Capitalise a common noun or adjective, mostly beside a name.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    text = sentence.tokens[i].text
    if not sentence.is_plain(i) or not text.islower() or len(text) < 4 or not readings(text).keys() & {"NN", "NNS", "JJ"}:
        return None
    if not (sentence.words[i + 1] == NAME or sentence.words[i - 1] == NAME) and random.random() >= _SHARE_OF_NOUNS:
        return None
    return set_text(sentence, i, text[0].upper() + text[1:])
