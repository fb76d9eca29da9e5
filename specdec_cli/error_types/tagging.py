"""Part-of-speech tags of English words, from the lexicon and the words around them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from specdec_cli.english.lexicon import readings
from specdec_cli.english.words import (
    ADVERBS,
    BE,
    CLOSED,
    DETERMINERS,
    DO,
    HAVE,
    MODALS,
    OBJECT_STARTS,
    OBJECTS,
    OTHER_PRONOUNS,
    POSSESSIVES,
    PREPOSITIONS,
    SUBJECTS,
    pairs,
    word_set,
)

_POS = dict(
    pairs(
        "JJ>ADJ JJR>ADJ JJS>ADJ RB>ADV RBR>ADV RBS>ADV WRB>ADV NN>NOUN NNS>NOUN NNP>NOUN VB>VERB VBP>VERB VBZ>VERB VBD>VERB VBN>VERB "
        "VBG>VERB MD>VERB IN>PREP CC>CONJ DT>DET WDT>DET PRP$>DET PRP>PRON WP>PRON EX>PRON TO>PART RP>PART POS>PART CD>NUM UH>INTJ"
    )
)
_FIXED = dict(
    pairs(
        "am>VBP is>VBZ are>VBP was>VBD were>VBD been>VBN be>VB being>VBG have>VBP has>VBZ had>VBD having>VBG do>VBP does>VBZ did>VBD "
        "n't>RB 'm>VBP 're>VBP 've>VBP 'll>MD 'd>MD ca>MD wo>MD sha>MD and>CC &>CC but>CC or>CC nor>CC who>WP whom>WP what>WP which>WDT "
        "why>WRB how>WRB when>WRB where>WRB there>EX own>JJ same>JJ first>JJ last>JJ next>JJ such>JJ other>JJ more>JJR most>JJS less>JJR "
        "least>JJS much>RB little>JJ many>JJ several>JJ few>JJ various>JJ numerous>JJ well>RB back>RB else>RB up>RP out>RP off>RP down>RP "
        "yes>UH oh>UH please>UH mr>NNP mrs>NNP dr>NNP st>NNP etc>FW than>IN as>IN because>IN although>IN though>IN if>IN while>IN "
        "unless>IN whereas>IN whether>IN once>IN so>RB yet>RB per>IN via>IN that>IN none>NN one>CD two>CD three>CD four>CD "
        "five>CD six>CD seven>CD eight>CD nine>CD ten>CD"
    )
)
_LEMMAS = dict.fromkeys(("am", "is", "are", "was", "were", "been", "be", "being", "'m", "'re"), "be")
_LEMMAS |= dict.fromkeys(("have", "has", "had", "having", "'ve"), "have") | dict.fromkeys(("do", "does", "did", "done", "doing"), "do")
_LEMMAS |= dict(pairs("an>a 'll>will wo>will ca>can sha>shall n't>not more>many most>many"))
_BASE = word_set("be have do")
_COMPARING = word_set("more most")
UNKNOWN = "X"
"""The tag of words of other languages than English."""
_SUFFIXES = (
    ("ly", "RB"),
    ("ing", "VBG"),
    ("ed", "VBN"),
    ("ous", "JJ"),
    ("ful", "JJ"),
    ("able", "JJ"),
    ("ive", "JJ"),
    ("ic", "JJ"),
    ("s", "NNS"),
)
_PUNCTUATION = re.compile(r"[^\w\s]+")
_VERBS = ("VBZ", "VBP", "VBD", "VB", "VBN", "VBG")
_NOUNS = ("NN", "NNS", "VBG", "JJ", "VBN", "RB", "VB", "VBP", "VBZ", "VBD")
_ORDERS = (
    (("MD",), ("VB", "VBP", "VBZ", "VBD", "VBN", "VBG", "NN", "NNS", "JJ")),
    (("TO",), ("VB", "VBP", "NN", "NNS", "JJ", "VBN", "VBD", "VBZ", "VBG")),
    (("DT", "PRP$", "JJ", "JJR", "JJS", "CD", "IN", "POS", "WDT"), _NOUNS),
    (("PRP", "WP", "EX"), ("VBZ", "VBP", "VBD", "VB", "VBN", "VBG", "RB", "NN", "NNS", "JJ")),
    (("VB", "VBP", "VBZ", "VBD", "VBN", "VBG"), ("VBG", "NN", "NNS", "RB", "JJ", "VBN", "VB", "VBD", "VBZ")),
)


@dataclass(frozen=True)
class Word:
    """A token with its Penn Treebank tag and its possible lemmas; whether it is an auxiliary verb, or follows one (adverbs apart)."""

    text: str
    lower: str
    tag: str
    lemmas: frozenset[str]
    is_auxiliary: bool = False
    follows_auxiliary: bool = False

    @property
    def pos(self) -> str:
        """The part of speech: NOUN, VERB, DET, PREP and so on; X for none of these."""
        return "PUNCT" if self.tag == "PUNCT" else _POS.get(self.tag, "X")


def tagged(tokens: Sequence[str]) -> list[Word]:
    """The words of a text, from its tokens, in order."""
    words_with_tags: list[Word] = []
    lowers = [token.lower() for token in tokens]
    for index, token in enumerate(tokens):
        following = lowers[index + 1] if index + 1 < len(lowers) else ""
        tag = _tag(token, lowers[index], words_with_tags, following)
        lemma = _LEMMAS.get(lowers[index])
        lemmas = frozenset([lemma]) if lemma else frozenset(readings(lowers[index]).values()) or frozenset([lowers[index]])
        words_with_tags.append(Word(token, lowers[index], tag, lemmas))
    auxiliary = [_is_auxiliary(words_with_tags, index) for index in range(len(words_with_tags))]
    follows = [_follows_auxiliary(words_with_tags, auxiliary, index) for index in range(len(words_with_tags))]
    marked = zip(words_with_tags, auxiliary, follows, strict=True)
    return [replace(word, is_auxiliary=own, follows_auxiliary=follows) for word, own, follows in marked]


def tagged_roughly(tokens: Sequence[str]) -> list[Word]:
    """The words of a text in any language, from its tokens: punctuation, and words with the tag UNKNOWN."""
    tags = ("PUNCT" if _PUNCTUATION.fullmatch(token) else UNKNOWN for token in tokens)
    return [Word(token, token.lower(), tag, frozenset([token.lower()])) for token, tag in zip(tokens, tags, strict=True)]


def _tag(token: str, lower: str, before: Sequence[Word], following: str) -> str:
    previous = next((word for word in reversed(before) if word.tag not in ("RB", "RBR")), None)
    if _PUNCTUATION.fullmatch(lower) and lower not in _FIXED and not (lower == "'" and previous and previous.lower.endswith("s")):
        return "PUNCT"
    if lower in ("'", "'s"):
        return "VBZ" if lower == "'s" and previous is not None and previous.tag in ("PRP", "WP", "EX", "WRB", "DT") else "POS"
    if lower[:1].isdigit():
        return "CD"
    if lower == "to":
        return "TO" if following in _BASE or "VB" in readings(following) else "IN"
    if lower in _COMPARING and _can_be_compared(following):
        return "RBR"
    if lower in _BASE and previous is not None and previous.tag in ("TO", "MD"):
        return "VB"
    return _closed(lower) or _open(token, lower, previous, following)


def _closed(lower: str) -> str:
    """The tag of a function word; "" for other words."""
    if lower in _FIXED:
        return _FIXED[lower]
    kinds = ((POSSESSIVES, "PRP$"), (DETERMINERS, "DT"), (PREPOSITIONS, "IN"), (SUBJECTS | OBJECTS | OTHER_PRONOUNS, "PRP"), (MODALS, "MD"))
    tag = next((tag for words, tag in kinds if lower in words), "")
    return tag or ("RB" if lower in ADVERBS else "")


def _can_be_compared(lower: str) -> bool:
    """Whether a word can be an adjective or an adverb."""
    return _closed(lower) == "RB" or bool({"JJ", "JJR", "JJS", "RB"} & readings(lower).keys() and lower not in CLOSED)


def _open(token: str, lower: str, previous: Word | None, following: str) -> str:
    """The tag of a noun, verb, adjective or adverb."""
    tags = readings(lower)
    if token[:1].isupper() and previous is not None and previous.tag != "PUNCT":
        return "NNP"
    if not tags:
        known = next((tag for ending, tag in _SUFFIXES if lower.endswith(ending) and len(lower) > len(ending) + 2), "NN")
        return "NNP" if token[:1].isupper() and lower not in CLOSED else known
    if len(tags) == 1:
        return next(iter(tags))
    nouns = bool({"NN", "NNS"} & readings(following).keys()) and following not in CLOSED
    if "JJ" in tags and nouns and (previous is None or (previous.tag not in ("TO", "MD", "PRP") and previous.lower not in BE)):
        return "JJ"
    return next((tag for tag in _order(tags, previous, following) if tag in tags), next(iter(tags)))


def _order(tags: Mapping[str, str], previous: Word | None, following: str) -> Sequence[str]:
    """The tags of an open class, the most likely one first."""
    if previous is None:
        return _NOUNS
    if previous.lower in BE or previous.lower in ("'m", "'re"):
        return ("VBG", "JJ", "VBN", "RB", "NN", "NNS", "VB", "VBD", "VBZ")
    if previous.lower in HAVE or previous.lower == "'ve":
        return ("VBN", "NN", "NNS", "JJ", "VBG", "VB", "VBD", "VBZ")
    if previous.lower in DO:
        return ("VB", "VBP", "NN", "NNS", "JJ", "VBD", "VBZ")
    if previous.tag in ("NN", "NNS", "NNP"):
        takes_object = following in OBJECT_STARTS or following in PREPOSITIONS or following == "to"
        if takes_object or not {"NN", "NNS"} & tags.keys():
            return _VERBS if previous.tag != "NNS" else ("VBP", "VBD", "VB", "VBZ", "VBN", "VBG", "NN")
        return _NOUNS
    return next((order for kinds, order in _ORDERS if previous.tag in kinds), _NOUNS)


def _follows_auxiliary(words: Sequence[Word], auxiliary: Sequence[bool], index: int) -> bool:
    """Whether the last word before this one that is not an adverb is an auxiliary verb."""
    before = next((place for place in range(index - 1, -1, -1) if words[place].tag != "RB"), None)
    return before is not None and auxiliary[before]


def _is_auxiliary(words: Sequence[Word], index: int) -> bool:
    """Whether the word is a modal, or a form of be, have or do before another verb."""
    word = words[index]
    if word.tag == "MD":
        return True
    if word.pos != "VERB" or not word.lemmas & _BASE:
        return False
    for other in words[index + 1 : index + 5]:
        if other.pos == "VERB":
            return other.tag in (("VBN", "VBG") if "do" not in word.lemmas else ("VB", "VBP"))
        if other.tag not in ("RB", "PRP"):
            return False
    return False
