"""What a word is in its sentence, judged by its neighbours: there is no tagger, so doubt means no answer."""

from collections.abc import Mapping

from specdec_cli.corruption.closed import (
    ADVERBS,
    BE,
    DETERMINERS,
    DO,
    HAVE,
    MODALS,
    OBJECT_STARTS,
    PAST_AUXILIARIES,
    PLURAL_DETERMINERS,
    PREPOSITIONS,
    RELATIVES,
    SINGULAR_DETERMINERS,
    SINGULAR_SUBJECTS,
    SUBJECTS,
)
from specdec_cli.corruption.lexicon import readings
from specdec_cli.corruption.tables import word_set
from specdec_cli.corruption.tokens import NAME, NUMBER, Sentence

_PAST_TIMES = word_set("ago yesterday last formerly previously earlier")


def left_of(sentence: Sentence, i: int) -> int:
    """The nearest token before i that is no adverb; -1 if there is none."""
    words = sentence.words
    i -= 1
    while i >= 0 and (words[i] in ADVERBS or (words[i].endswith("ly") and "RB" in readings(words[i]))):
        i -= 1
    return i


def verb_tag(sentence: Sentence, i: int) -> str:
    """The tag (VB, VBP, VBZ, VBD, VBN or VBG) of token i where its neighbours show that it is a verb, else ""."""
    words = sentence.words
    tags = readings(words[i])
    if not ("VB" in tags or "VBZ" in tags or "VBD" in tags or "VBN" in tags or "VBG" in tags):
        return ""
    place = left_of(sentence, i)
    left = words[place]
    if left == "to":
        return "VB" if "VB" in tags and (words[i + 1] in OBJECT_STARTS or not ("NN" in tags or "NNS" in tags)) else ""
    if left in MODALS or left in DO:
        return "VB" if "VB" in tags else ""
    if left in HAVE:
        return "VBN" if "VBN" in tags and "NN" not in tags else ""
    if left in BE:
        return "VBG" if "VBG" in tags else "VBN" if "VBN" in tags and "VB" not in tags else ""
    if left in PREPOSITIONS:
        return "VBG" if "VBG" in tags and "NN" not in tags else ""
    if left in SUBJECTS or left in ("who", "which"):
        before = words[place - 1]
        return _after_subject(tags, left, before in MODALS or before in DO)
    if left == NAME or left in RELATIVES or (left.isalpha() and left not in DETERMINERS):
        return _after_noun(sentence, i, place)
    return ""


def _after_subject(tags: Mapping[str, str], left: str, asked: bool) -> str:
    """The tag after a subject pronoun; `asked`: after an auxiliary and a pronoun, as in a question."""
    if asked:
        return "VB" if "VB" in tags else ""
    if "VBZ" in tags:
        return "VBZ"
    if "VBP" in tags:
        # "see it go"; and "he put" has one form for two tenses.
        return "" if "VBD" in tags else "VB" if left in SINGULAR_SUBJECTS else "VBP"
    return "VBD" if "VBD" in tags else ""


def _after_noun(sentence: Sentence, i: int, place: int) -> str:
    tags, left = readings(sentence.words[i]), readings(sentence.words[place])
    takes_object = sentence.words[i + 1] in OBJECT_STARTS
    if "VBD" in tags and "VB" not in tags and "JJ" not in tags and "NN" not in tags:
        # Without a noun before it, or where both forms agree, it may be a participle.
        noun = sentence.words[place] == NAME or "NN" in left or "NNS" in left
        return "VBD" if noun and ("VBN" not in tags or takes_object) else ""
    if "VBZ" in tags and ("NN" in left or sentence.words[place] == NAME) and ("NNS" not in tags or takes_object):
        return "VBZ"
    if "VBP" in tags and "NNS" in left and "NN" not in left and ("NN" not in tags or takes_object) and "JJ" not in tags:
        return "VBP"
    return ""


def is_singular(sentence: Sentence, i: int) -> bool:
    """Whether the subject before token i is he, she, it, a name or a singular noun."""
    place = left_of(sentence, i)
    left = sentence.words[place]
    if left == NAME:
        return sentence.words[place - 1] != "and" and not sentence.tokens[place].text.endswith("s")
    if left in SINGULAR_SUBJECTS:
        return True
    return "NN" in readings(left) and "NNS" not in readings(left)


def is_noun(sentence: Sentence, i: int) -> bool:
    """Whether token i is likely a noun, and the last one of its phrase."""
    words = sentence.words
    tags = readings(words[i])
    if not ("NN" in tags or "NNS" in tags):
        return False
    following = words[i + 1]
    if following == NAME or (following.isalpha() and ("NN" in readings(following) or "NNS" in readings(following))):
        return False
    left = words[left_of(sentence, i)]
    if left == "to" or left in MODALS or left in DO or left in SUBJECTS:
        return False
    return not (tags.keys() & {"VBP", "VBZ", "VBD"}) or determiner_of(sentence, i) >= 0 or left in PREPOSITIONS


def determiner_of(sentence: Sentence, i: int) -> int:
    """The determiner or number before the noun at i, with at most two adjectives or nouns between; -1 for none."""
    words = sentence.words
    for place in range(i - 1, max(i - 4, -1), -1):
        word = words[place]
        if word in DETERMINERS or word == NUMBER:
            return place
        tags = readings(word)
        if not ("JJ" in tags or "NN" in tags):
            return -1
    return -1


def wants_plural(word: str) -> bool:
    """Whether a determiner or number goes with plural nouns alone."""
    return word in PLURAL_DETERMINERS or word == NUMBER


def wants_singular(word: str) -> bool:
    """Whether a determiner goes with singular nouns alone."""
    return word in SINGULAR_DETERMINERS


def tells_past(sentence: Sentence, besides: int) -> bool:
    """Whether a token other than `besides` shows that the sentence is about the past."""
    words = sentence.words
    for i, word in enumerate(words):
        if i != besides and (word in PAST_AUXILIARIES or word in _PAST_TIMES or (word == NUMBER and words[i - 1] == "in")):
            return True
    return False
