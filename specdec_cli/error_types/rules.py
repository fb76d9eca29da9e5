"""The rules of ERRANT (Bryant et al., 2017, "Automatic Annotation and Evaluation of Error Types for Grammatical Error Correction",
table 1 and section 3) for the type of an edit, without a parser: the dependency labels it uses are inferred from tags.
"""

from collections.abc import Sequence
from difflib import SequenceMatcher

from specdec_cli.english.lexicon import is_known, relatives
from specdec_cli.english.words import word_set
from specdec_cli.error_types.tagging import UNKNOWN, Word

_CONTRACTIONS = word_set("'d 'll 'm n't 're 've")
_AUXILIARY_STEMS = {"ca": "can", "sha": "shall", "wo": "will"}
_RARE = frozenset(("INTJ", "NUM", "X"))
_OPEN = frozenset(("ADJ", "ADV", "NOUN", "VERB"))
_COMPARING = frozenset(("more", "most"))
_LEAST_SIMILARITY = 0.5


def error_type(old: Sequence[Word], new: Sequence[Word]) -> str:
    """The type of the edit that replaces the words `old` by `new`: an operation (M, U or R), a colon, and a category."""
    if not old and not new:
        return "R:ORTH"
    if not old:
        return f"M:{_one_sided(new)}"
    if not new:
        return f"U:{_one_sided(old)}"
    if old[-1].lower == new[-1].lower and (len(old) > 1 or len(new) > 1) and not _is_spacing(old, new):
        return error_type(old[:-1], new[:-1])
    return f"R:{_two_sided(old, new)}"


def _one_sided(words: Sequence[Word]) -> str:
    """The category of words that are missing or unnecessary."""
    if len(words) == 1:
        if words[0].tag == "POS":
            return "NOUN:POSS"
        if words[0].lower in _CONTRACTIONS:
            return "CONTR"
        if words[0].tag == "TO":
            return "VERB:FORM"
    if all(word.is_auxiliary for word in words):
        return "VERB:TENSE"
    kinds = {word.pos for word in words}
    if len(kinds) == 1 and not kinds & _RARE:
        return kinds.pop()
    return "VERB" if kinds == {"PART", "VERB"} else "OTHER"


def _two_sided(old: Sequence[Word], new: Sequence[Word]) -> str:
    """The category of words that are replaced by others."""
    if _is_spacing(old, new):
        return "ORTH"
    if any(word.lower in _CONTRACTIONS and word.tag != UNKNOWN for word in new) and _letters(old) == _letters(new):
        return "CONTR"
    if sorted(word.lower for word in old) == sorted(word.lower for word in new):
        return "WO"
    if len(old) == len(new) == 1:
        return _one_to_one(old[0], new[0])
    if all(word.is_auxiliary for word in (*old, *new)):
        return "VERB:TENSE"
    kinds = {word.pos for word in (*old, *new)}
    same_last = bool(old[-1].lemmas & new[-1].lemmas)
    if same_last and (old[0].lower in _COMPARING or new[0].lower in _COMPARING) and len(old) <= 2 and len(new) <= 2:
        return "ADJ:FORM"
    if kinds == {"VERB"} and same_last:
        return "VERB:TENSE"
    if len(kinds) == 1 and not kinds & _RARE:
        return kinds.pop()
    if kinds == {"PART", "VERB"}:
        return "VERB:FORM" if same_last else "VERB"
    if any([word.pos for word in side] == ["NOUN", "PART"] for side in (old, new)) and old[0].lemmas & new[0].lemmas:
        return "NOUN:POSS"
    return "OTHER"


def _one_to_one(old: Word, new: Word) -> str:
    """The category of one word that is replaced by another."""
    if UNKNOWN in (old.tag, new.tag):
        return "OTHER"
    if "POS" in (old.tag, new.tag):
        return "NOUN:POSS"
    if (old.lower in _CONTRACTIONS or new.lower in _CONTRACTIONS) and old.pos == new.pos:
        return "CONTR"
    if _AUXILIARY_STEMS.get(old.lower) == new.lower or _AUXILIARY_STEMS.get(new.lower) == old.lower:
        return "CONTR"
    if old.lower in _AUXILIARY_STEMS or new.lower in _AUXILIARY_STEMS:
        return "VERB:TENSE"
    if {old.lower, new.lower} == {"was", "were"}:
        return "VERB:SVA"
    if old.lower.isalpha() and not is_known(old.lower):
        return _misspelled(old, new)
    if old.pos in _OPEN and new.pos in _OPEN:
        if old.lemmas & new.lemmas:
            return _inflected(old, new)
        if old.lower in relatives(new.lower) or new.lower in relatives(old.lower) or _share_stem(old.lower, new.lower):
            return "MORPH"
    return _other_word(old, new)


def _misspelled(old: Word, new: Word) -> str:
    """The category of a word that is not in the lexicon."""
    inflections = {ending for ending in ("s", "es", "ed", "d", "ing") if any(old.lower == lemma + ending for lemma in new.lemmas)}
    if inflections and new.pos in ("NOUN", "VERB"):
        return f"{new.pos}:INFL"
    if SequenceMatcher(None, old.text, new.text, autojunk=False).ratio() > _LEAST_SIMILARITY:
        return "SPELL"
    return old.pos if old.pos == new.pos and old.pos not in _RARE else "OTHER"


def _inflected(old: Word, new: Word) -> str:
    """The category of a form of a word that is replaced by another form of it."""
    tags = {old.tag, new.tag}
    if old.pos == new.pos == "ADJ":
        return "ADJ:FORM"
    if old.pos == new.pos == "NOUN" or (old.pos == "ADJ" and new.tag == "NNS"):
        return "NOUN:NUM"
    if old.pos == new.pos == "VERB" or new.tag in ("VBG", "VBN", "VBD", "VBZ"):
        if old.follows_auxiliary and new.follows_auxiliary:
            return "VERB:FORM"
        deciding = tags if old.pos == new.pos else {new.tag}
        if deciding & {"VBG", "VBN"}:
            return "VERB:FORM"
        return "VERB:TENSE" if "VBD" in deciding else "VERB:SVA" if "VBZ" in deciding else "VERB:FORM"
    return "MORPH"


def _other_word(old: Word, new: Word) -> str:
    """The category of a word that is replaced by one with another lemma."""
    if old.is_auxiliary and new.is_auxiliary:
        return "VERB:TENSE"
    if old.pos == new.pos and old.pos not in _RARE:
        return old.pos
    kinds = {old.pos, new.pos}
    if kinds == {"PART", "PREP"}:
        return "PART"
    if kinds == {"DET", "PRON"}:
        return new.pos
    if kinds == {"NUM", "DET"} or {old.lower, new.lower} == {"other", "another"}:
        return "DET"
    return "PRON" if (old.lower, new.lower) == ("your", "yours") else "OTHER"


def _is_spacing(old: Sequence[Word], new: Sequence[Word]) -> bool:
    """Whether both sides differ in spaces and capital letters only."""
    return "".join(word.lower for word in old) == "".join(word.lower for word in new)


def _letters(words: Sequence[Word]) -> str:
    """The letters of words, in lower case, without apostrophes between them."""
    return "".join(word.lower for word in words).replace("'", "")


def _share_stem(old: str, new: str) -> bool:
    """Whether two words have the same beginning, and only suffixes after it."""
    common = next((index for index, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), min(len(old), len(new)))
    return common >= 4 and max(len(old), len(new)) - common <= 4 and old != new
