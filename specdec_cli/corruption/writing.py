"""Errors of writing: punctuation, capital letters, spaces and hyphens."""

from random import Random

from specdec_cli.corruption.tokens import APOSTROPHE, NAME, Sentence, TokenEdit, replace_gap, set_text, straight
from specdec_cli.english.lexicon import readings
from specdec_cli.english.words import AUXILIARIES, CLOSED, CONJUNCTIONS, PREPOSITIONS, SUBJECTS, word_list, word_set
from specdec_cli.text.marks import ENGLISH_CLOSING

# Probability of a wrong comma before a word, or after a word that begins a sentence.
_COMMA_BEFORE = dict.fromkeys(word_list("and but because that which if when or so who where while"), 1.0)
_COMMA_BEFORE |= dict.fromkeys(word_list("is are was were has have as for with to in"), 0.04)
_COMMA_AFTER = word_set("and but so or yet then also thus")
_REPLACEMENTS = {
    ",": (";", ".", "."), ";": (",", ",", ":"), ":": (",", ";", "."), ".": (",", ",", ""), "?": (".",), "!": (".",),
    "--": (",",), "\u2013": (",", "-"), "—": (",", "-"),
}  # fmt: skip
_CONTRACTED = ("n't", "'re", "'ve", "'ll", "'m", "it's", "that's", "let's", "what's", "he's", "there's", "who's")
_SHARE_OF_MISPLACED = 0.15
_SHARE_OF_PLURALS = 0.05
_FINAL = frozenset({".", "!", "?"})
_CLOSING = frozenset(ENGLISH_CLOSING)


def _is_last(sentence: Sentence, i: int) -> bool:
    return all(token.text in _CLOSING for token in sentence.tokens[i + 1 :])


def comma_drop(sentence: Sentence, i: int, _: Random) -> TokenEdit | None:
    """Remove a comma.

    Returns None if this error is impossible at token i.
    """
    if sentence.words[i] != "," or not i or sentence.gap(i - 1) or not sentence.gap(i) or _is_last(sentence, i):
        return None
    comma = sentence.tokens[i]
    return TokenEdit(comma.start, comma.end, "", i, i)


def comma_insert(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Insert a wrong comma: before a conjunction or clause, after a conjunction, or between subject and verb.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    word, following = sentence.words[i], sentence.words[i + 1]
    if not sentence.is_wordlike(i) or not sentence.is_wordlike(i + 1) or not sentence.gap(i):
        return None
    if i in sentence.initials:
        probability = 1.0 if word in _COMMA_AFTER else 0.0
    elif word in CONJUNCTIONS or word in AUXILIARIES or word in SUBJECTS:
        probability = 0.1 if word in ("and", "but", "that", "because") else 0.0
    else:
        probability = _COMMA_BEFORE.get(following, 0.0)
    if random.random() >= probability:
        return None
    end = sentence.tokens[i].end
    return TokenEdit(end, end, ",", i, i + 1)


def punctuation_swap(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Replace a punctuation mark by another; join two sentences with a comma, or split one.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    others = _REPLACEMENTS.get(sentence.words[i])
    if others is None or not i or i + 1 >= len(sentence.tokens) or not sentence.gap(i):
        return None
    old, start, end = sentence.tokens[i]
    text, after, _ = sentence.tokens[i + 1]
    mark = random.choice(others)
    if old in _FINAL:
        # The next token must begin a sentence, so that the mark does not belong to an abbreviation, and must be a plain word.
        if i + 1 not in sentence.initials or sentence.words[i + 1] == NAME or not sentence.is_wordlike(i + 1):
            return None
        first = text[0] if sentence.words[i + 1][:2] in ("i", "i'") else text[0].lower()
    elif mark == "." and sentence.is_wordlike(i + 1):
        first = text[0].upper()
    else:
        return set_text(sentence, i, mark)
    return TokenEdit(start, after + 1, mark + sentence.text[end:after] + first, i, i + 1)


def final_stop(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Remove or double the final mark, or replace a question mark by a full stop.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    word = sentence.words[i]
    if word not in _FINAL or not i or sentence.gap(i - 1) or not _is_last(sentence, i):
        return None
    _, start, end = sentence.tokens[i]
    if word == "?" and random.random() < 0.5:
        return TokenEdit(start, end, ".", i, i)
    return TokenEdit(start, end, word * 2 if random.random() < 0.1 else "", i, i)


def apostrophe(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Remove or misplace the apostrophe of a contraction (dont, did'nt), or insert one in a plural (photo's).

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    text, word = sentence.tokens[i].text, sentence.words[i]
    if "'" in word:
        if not word.endswith(_CONTRACTED):
            return None
        bare = straight(text).replace("'", "")
        misplaced = word.endswith("n't") and random.random() < _SHARE_OF_MISPLACED
        return set_text(sentence, i, f"{text[:-3]}{text[-2]}{text[-3]}{text[-1]}" if misplaced else bare)
    if not sentence.is_plain(i) or not word.endswith("s") or len(word) < 5 or random.random() >= _SHARE_OF_PLURALS:
        return None
    mark = APOSTROPHE if APOSTROPHE in sentence.text else "'"
    return set_text(sentence, i, f"{text[:-1]}{mark}s") if readings(word).get("NNS") == word[:-1] else None


_SHARE_OF_CAPITALISED_NOUNS = 0.15


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
    if not (sentence.words[i + 1] == NAME or sentence.words[i - 1] == NAME) and random.random() >= _SHARE_OF_CAPITALISED_NOUNS:
        return None
    return set_text(sentence, i, text[0].upper() + text[1:])


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
_SHARE_OF_OTHER_GAPS = 0.01
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
    return replace_gap(sentence, i) if slip and random.random() < _SHARE_OF_OTHER_GAPS else None


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
    if not (sentence.is_plain(i) and sentence.is_plain(i + 1)) or random.random() >= _SHARE_OF_OTHER_GAPS:
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
