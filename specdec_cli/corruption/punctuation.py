"""Errors of punctuation: commas, apostrophes, the mark at the end."""

from random import Random

from specdec_cli.corruption.closed import AUXILIARIES, CONJUNCTIONS, SUBJECTS
from specdec_cli.corruption.edits import Edit, respelled
from specdec_cli.corruption.lexicon import readings
from specdec_cli.corruption.tables import word_list, word_set
from specdec_cli.corruption.tokens import APOSTROPHE, NAME, Sentence, straight

# How often a comma comes before these, where none belongs.
_BEFORE = dict.fromkeys(word_list("and but because that which if when or so who where while"), 1.0)
_BEFORE |= dict.fromkeys(word_list("is are was were has have as for with to in"), 0.04)
_AFTER_INITIAL = word_set("and but so or yet then also thus")
_INSTEAD = {
    ",": (";", ".", "."), ";": (",", ",", ":"), ":": (",", ";", "."), ".": (",", ",", ""), "?": (".",), "!": (".",),
    "--": (",",), "\u2013": (",", "-"), "—": (",", "-"),
}  # fmt: skip
_CONTRACTED = ("n't", "'re", "'ve", "'ll", "'m", "it's", "that's", "let's", "what's", "he's", "there's", "who's")
_SHARE_OF_MISPLACED = 0.15
_SHARE_OF_PLURALS = 0.05
_FINAL = frozenset({".", "!", "?"})
_CLOSING = frozenset({'"', "'", "”", APOSTROPHE, ")"})


def _is_last(sentence: Sentence, i: int) -> bool:
    return all(token.text in _CLOSING for token in sentence.tokens[i + 1 :])


def comma_drop(sentence: Sentence, i: int, _: Random) -> Edit | None:
    """A comma is missing."""
    if sentence.words[i] != "," or not i or sentence.gap(i - 1) or not sentence.gap(i) or _is_last(sentence, i):
        return None
    comma = sentence.tokens[i]
    return Edit(comma.start, comma.end, "", i, i)


def comma_insert(sentence: Sentence, i: int, random: Random) -> Edit | None:
    """A comma before a conjunction or clause that wants none, after a conjunction, or between subject and verb."""
    word, following = sentence.words[i], sentence.words[i + 1]
    if not sentence.is_wordlike(i) or not sentence.is_wordlike(i + 1) or not sentence.gap(i):
        return None
    if i in sentence.initials:
        likely = 1.0 if word in _AFTER_INITIAL else 0.0
    elif word in CONJUNCTIONS or word in AUXILIARIES or word in SUBJECTS:
        likely = 0.1 if word in ("and", "but", "that", "because") else 0.0
    else:
        likely = _BEFORE.get(following, 0.0)
    if random.random() >= likely:
        return None
    end = sentence.tokens[i].end
    return Edit(end, end, ",", i, i + 1)


def punctuation_swap(sentence: Sentence, i: int, random: Random) -> Edit | None:
    """One mark for another; two sentences joined by a comma, or one cut in two."""
    others = _INSTEAD.get(sentence.words[i])
    if others is None or not i or i + 1 >= len(sentence.tokens) or not sentence.gap(i):
        return None
    old, start, end = sentence.tokens[i]
    text, after, _ = sentence.tokens[i + 1]
    mark = random.choice(others)
    if old in _FINAL:
        # Rather than an abbreviation, or what may not be touched.
        if i + 1 not in sentence.initials or sentence.words[i + 1] == NAME or not sentence.is_wordlike(i + 1):
            return None
        first = text[0] if sentence.words[i + 1][:2] in ("i", "i'") else text[0].lower()
    elif mark == "." and sentence.is_wordlike(i + 1):
        first = text[0].upper()
    else:
        return respelled(sentence, i, mark)
    return Edit(start, after + 1, mark + sentence.text[end:after] + first, i, i + 1)


def final_stop(sentence: Sentence, i: int, random: Random) -> Edit | None:
    """The mark at the end is missing, doubled, or a stop for a question mark."""
    word = sentence.words[i]
    if word not in _FINAL or not i or sentence.gap(i - 1) or not _is_last(sentence, i):
        return None
    _, start, end = sentence.tokens[i]
    if word == "?" and random.random() < 0.5:
        return Edit(start, end, ".", i, i)
    return Edit(start, end, word * 2 if random.random() < 0.1 else "", i, i)


def apostrophe(sentence: Sentence, i: int, random: Random) -> Edit | None:
    """An apostrophe is missing or misplaced in a contraction (dont, did'nt), or stands in a plural (photo's)."""
    text, word = sentence.tokens[i].text, sentence.words[i]
    if "'" in word:
        if not word.endswith(_CONTRACTED):
            return None
        bare = straight(text).replace("'", "")
        misplaced = word.endswith("n't") and random.random() < _SHARE_OF_MISPLACED
        return respelled(sentence, i, f"{text[:-3]}{text[-2]}{text[-3]}{text[-1]}" if misplaced else bare)
    if not sentence.is_plain(i) or not word.endswith("s") or len(word) < 5 or random.random() >= _SHARE_OF_PLURALS:
        return None
    mark = APOSTROPHE if APOSTROPHE in sentence.text else "'"
    return respelled(sentence, i, f"{text[:-1]}{mark}s") if readings(word).get("NNS") == word[:-1] else None
