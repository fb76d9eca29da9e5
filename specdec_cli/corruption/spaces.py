"""Errors of spacing: words written together or apart, hyphens, spaces around punctuation."""

from random import Random

from specdec_cli.corruption.closed import CLOSED, PREPOSITIONS
from specdec_cli.corruption.edits import Edit, joined, respelled
from specdec_cli.corruption.lexicon import readings
from specdec_cli.corruption.tables import word_list, word_set
from specdec_cli.corruption.tokens import Sentence

_TOGETHER = word_set(
    "a_lot in_fact as_well each_other at_least in_front in_order every_day no_one all_right any_more every_one high_school "
    "web_site up_to even_though of_course thank_you may_be some_times any_way every_time as_soon at_all in_spite so_far "
    "long_term full_time real_time set_up log_in sign_up back_up check_out life_style world_wide ice_cream living_room "
    "some_one on_line well_being even_if in_case instead_of due_to next_to such_as"
)
_HEADS = word_list(
    "ball room book work time day night way side line port house end land light water place board mate shop store style print "
    "paper ground field yard town thing body where one how ever self selves out over up down off in to hood times wide ship works"
)
_SPLIT = word_set("cannot another without within into onto however therefore nevertheless somewhere anyone become below")
_CLOSE_MARKS = frozenset(",;:.!?")
_SHARE_OF_OTHERS = 0.01
_SHARE_APART = 0.75


def fused(sentence: Sentence, i: int, random: Random) -> Edit | None:
    """Two words without the space between them: alot, infact, highschool; rarely any two short ones."""
    words = sentence.words
    if not words[i + 1] or not sentence.is_plain(i) or not sentence.is_plain(i + 1) or (i + 1) in sentence.initials:
        return None
    if f"{words[i]} {words[i + 1]}" in _TOGETHER:
        return joined(sentence, i)
    slip = (words[i] in CLOSED or words[i + 1] in CLOSED) and len(words[i]) + len(words[i + 1]) < 10
    return joined(sentence, i) if slip and random.random() < _SHARE_OF_OTHERS else None


def split(sentence: Sentence, i: int, _: Random) -> Edit | None:
    """A compound in two: class room, every one, with out, can not."""
    word = sentence.words[i]
    if len(word) < 6 or not sentence.is_plain(i):
        return None
    for head in _HEADS:
        first = word[: -len(head)]
        if word.endswith(head) and len(first) > 1 and (word in _SPLIT or _are_parts(first, head)):
            return _apart(sentence, i, len(first))
    return _apart(sentence, i, 2 if word == "another" else 3) if word in _SPLIT and word.startswith(("an", "can", "how")) else None


def _are_parts(first: str, head: str) -> bool:
    if first in ("any", "every", "some", "no", "it", "my", "your", "him", "her", "them", "our"):
        return True
    return len(first) > 2 and len(head) > 2 and "NN" in readings(first) and first not in CLOSED


def _apart(sentence: Sentence, i: int, at: int) -> Edit | None:
    text = sentence.tokens[i].text
    return respelled(sentence, i, f"{text[:at]} {text[at:]}")


def hyphen(sentence: Sentence, i: int, random: Random) -> Edit | None:
    """`well-known` becomes `well known` or, less often, `wellknown`; `high school` becomes `high-school`."""
    word = sentence.words[i]
    if "-" in word and word[0].isalpha():
        apart = random.random() < _SHARE_APART or word.count("-") > 1
        return respelled(sentence, i, sentence.tokens[i].text.replace("-", " " if apart else ""))
    if not (sentence.is_plain(i) and sentence.is_plain(i + 1)) or random.random() >= _SHARE_OF_OTHERS:
        return None
    following = readings(sentence.words[i + 1])
    if readings(word).keys() & {"JJ", "NN"} and following.keys() & {"NN", "NNS"} and sentence.words[i - 1] not in PREPOSITIONS:
        return joined(sentence, i, "-")
    return None


def spacing(sentence: Sentence, i: int, random: Random) -> Edit | None:
    """No space after a comma or stop, or one before it."""
    if sentence.words[i] not in _CLOSE_MARKS or not i or not sentence.is_wordlike(i - 1) or sentence.gap(i - 1):
        return None
    if random.random() < 0.5 and sentence.is_wordlike(i + 1) and sentence.gap(i):
        return joined(sentence, i)
    return joined(sentence, i - 1, " ")
