"""Part of speech of a word in its sentence, inferred from the words around it."""

from collections.abc import Mapping

from specdec_cli.corruption.tokens import NAME, NUMBER, Sentence
from specdec_cli.english.lexicon import readings
from specdec_cli.english.words import (
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
    word_set,
)

# Verbs whose past is an infinitive too, but a far rarer one: saw, found, felt.
_OFTEN_PAST = word_set("see find feel fall leave")
_PAST_TIMES = word_set("ago yesterday last formerly previously earlier")


def previous_word(sentence: Sentence, i: int) -> int:
    """The index of the nearest token before token i that is not an adverb; -1 if there is none."""
    words = sentence.words
    i -= 1
    while i >= 0 and (words[i] in ADVERBS or (words[i].endswith("ly") and "RB" in readings(words[i]))):
        i -= 1
    return i


def verb_tag(sentence: Sentence, i: int) -> str:
    """The Penn Treebank tag (VB, VBP, VBZ, VBD, VBN or VBG) of token i if the words around it show that it is a verb, else ""."""
    words = sentence.words
    tags = readings(words[i])
    if not ("VB" in tags or "VBZ" in tags or "VBD" in tags or "VBN" in tags or "VBG" in tags):
        return ""
    position = previous_word(sentence, i)
    left = words[position]
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
        before = words[position - 1]
        return _after_subject(tags, left, before in MODALS or before in DO)
    if left == NAME or left in RELATIVES or (left.isalpha() and left not in DETERMINERS):
        return _after_noun(sentence, i, position)
    return ""


def _after_subject(tags: Mapping[str, str], left: str, is_question: bool) -> str:
    """The tag of a verb after the subject pronoun `left`; `is_question`: an auxiliary precedes the pronoun."""
    if is_question:
        return "VB" if "VB" in tags else ""
    if "VBZ" in tags:
        return "VBZ"
    if "VBP" in tags:
        # No result for verbs like "put", whose present and past are equal. VB as in "see it go".
        return ("VBD" if tags["VBD"] in _OFTEN_PAST else "") if "VBD" in tags else "VB" if left in SINGULAR_SUBJECTS else "VBP"
    return "VBD" if "VBD" in tags else ""


def _after_noun(sentence: Sentence, i: int, position: int) -> str:
    tags, left = readings(sentence.words[i]), readings(sentence.words[position])
    takes_object = sentence.words[i + 1] in OBJECT_STARTS
    if "VBD" in tags and "VB" not in tags and "JJ" not in tags and "NN" not in tags:
        # It may be a participle if no noun precedes it, or if past tense and participle are equal.
        noun = sentence.words[position] == NAME or "NN" in left or "NNS" in left
        return "VBD" if noun and ("VBN" not in tags or takes_object) else ""
    if "VBZ" in tags and ("NN" in left or sentence.words[position] == NAME) and ("NNS" not in tags or takes_object):
        return "VBZ"
    if "VBP" in tags and "NNS" in left and "NN" not in left and ("NN" not in tags or takes_object) and "JJ" not in tags:
        return "VBP"
    return ""


def is_singular(sentence: Sentence, i: int) -> bool:
    """Whether the last word before token i, a verb, that is not an adverb is he, she, it, a name or a singular noun."""
    position = previous_word(sentence, i)
    left = sentence.words[position]
    if left == NAME:
        return sentence.words[position - 1] != "and" and not sentence.tokens[position].text.endswith("s")
    if left in SINGULAR_SUBJECTS:
        return True
    return "NN" in readings(left) and "NNS" not in readings(left)


def is_noun(sentence: Sentence, i: int) -> bool:
    """Whether token i is probably a noun and the last word of its noun phrase."""
    words = sentence.words
    tags = readings(words[i])
    if not ("NN" in tags or "NNS" in tags):
        return False
    following = words[i + 1]
    if following == NAME or (following.isalpha() and ("NN" in readings(following) or "NNS" in readings(following))):
        return False
    left = words[previous_word(sentence, i)]
    if left == "to" or left in MODALS or left in DO or left in SUBJECTS:
        return False
    return not (tags.keys() & {"VBP", "VBZ", "VBD"}) or determiner_of(sentence, i) >= 0 or left in PREPOSITIONS


def determiner_of(sentence: Sentence, i: int) -> int:
    """The index of the determiner or number before token i, a noun, with at most two words between them; -1 if there is none."""
    words = sentence.words
    for position in range(i - 1, max(i - 4, -1), -1):
        word = words[position]
        if word in DETERMINERS or word == NUMBER:
            return position
        tags = readings(word)
        if not ("JJ" in tags or "NN" in tags):
            return -1
    return -1


def requires_plural(word: str) -> bool:
    """Whether `word` is a determiner that occurs with plural nouns only (these, many, three), or the token class NUMBER."""
    return word in PLURAL_DETERMINERS or word == NUMBER


def requires_singular(word: str) -> bool:
    """Whether `word` is a determiner that occurs with singular nouns only (a, this, each)."""
    return word in SINGULAR_DETERMINERS


def is_about_past(sentence: Sentence, excluded: int) -> bool:
    """Whether a token other than token `excluded` shows that the sentence is about the past: was, did, yesterday, in 1990."""
    words = sentence.words
    for i, word in enumerate(words):
        if i != excluded and (word in PAST_AUXILIARIES or word in _PAST_TIMES or (word == NUMBER and words[i - 1] == "in")):
            return True
    return False
