"""Errors of spacing: joined or split words, hyphens, spaces around punctuation."""

from random import Random

from specdec_cli.corruption.closed import CLOSED, PREPOSITIONS
from specdec_cli.corruption.edits import TokenEdit, replace_gap, set_text
from specdec_cli.corruption.lexicon import readings
from specdec_cli.corruption.tables import word_list, word_set
from specdec_cli.corruption.tokens import Sentence

_FUSED = word_set(
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
_MARKS_AFTER_WORDS = frozenset(",;:.!?")
_SHARE_OF_OTHERS = 0.01
_SHARE_APART = 0.75


def fused(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Remove the space between two words: alot, infact, highschool; rarely between any two short words.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    words = sentence.words
    if not words[i + 1] or not sentence.is_plain(i) or not sentence.is_plain(i + 1) or (i + 1) in sentence.initials:
        return None
    if f"{words[i]} {words[i + 1]}" in _FUSED:
        return replace_gap(sentence, i)
    slip = (words[i] in CLOSED or words[i + 1] in CLOSED) and len(words[i]) + len(words[i + 1]) < 10
    return replace_gap(sentence, i) if slip and random.random() < _SHARE_OF_OTHERS else None


def split(sentence: Sentence, i: int, _: Random) -> TokenEdit | None:
    """Split a compound: class room, every one, with out, can not.

    Returns None if this error is impossible at token i.
    """
    word = sentence.words[i]
    if len(word) < 6 or not sentence.is_plain(i):
        return None
    for head in _HEADS:
        first = word[: -len(head)]
        if word.endswith(head) and len(first) > 1 and (word in _SPLIT or _are_parts(first, head)):
            return _split_at(sentence, i, len(first))
    return _split_at(sentence, i, 2 if word == "another" else 3) if word in _SPLIT and word.startswith(("an", "can", "how")) else None


def _are_parts(first: str, head: str) -> bool:
    if first in ("any", "every", "some", "no", "it", "my", "your", "him", "her", "them", "our"):
        return True
    return len(first) > 2 and len(head) > 2 and "NN" in readings(first) and first not in CLOSED


def _split_at(sentence: Sentence, i: int, at: int) -> TokenEdit | None:
    text = sentence.tokens[i].text
    return set_text(sentence, i, f"{text[:at]} {text[at:]}")


def hyphen(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Replace `well-known` by `well known` or, less often, `wellknown`; `high school` by `high-school`.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    word = sentence.words[i]
    if "-" in word and word[0].isalpha():
        apart = random.random() < _SHARE_APART or word.count("-") > 1
        return set_text(sentence, i, sentence.tokens[i].text.replace("-", " " if apart else ""))
    if not (sentence.is_plain(i) and sentence.is_plain(i + 1)) or random.random() >= _SHARE_OF_OTHERS:
        return None
    following = readings(sentence.words[i + 1])
    if readings(word).keys() & {"JJ", "NN"} and following.keys() & {"NN", "NNS"} and sentence.words[i - 1] not in PREPOSITIONS:
        return replace_gap(sentence, i, "-")
    return None


def spacing(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Remove the space after a punctuation mark, or insert one before it.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    if sentence.words[i] not in _MARKS_AFTER_WORDS or not i or not sentence.is_wordlike(i - 1) or sentence.gap(i - 1):
        return None
    if random.random() < 0.5 and sentence.is_wordlike(i + 1) and sentence.gap(i):
        return replace_gap(sentence, i)
    return replace_gap(sentence, i - 1, " ")
