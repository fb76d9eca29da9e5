"""Errors of punctuation: commas, apostrophes, the final mark."""

from random import Random

from specdec_cli.corruption.closed import AUXILIARIES, CONJUNCTIONS, SUBJECTS
from specdec_cli.corruption.edits import TokenEdit, set_text
from specdec_cli.corruption.lexicon import readings
from specdec_cli.corruption.tables import word_list, word_set
from specdec_cli.corruption.tokens import APOSTROPHE, NAME, Sentence, straight

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
_CLOSING = frozenset({'"', "'", "”", APOSTROPHE, ")"})


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
