"""Errors of nouns: number, plurals of uncountable nouns, possessives."""

from random import Random

from specdec_cli.corruption.closed import UNCOUNTABLE
from specdec_cli.corruption.context import determiner_of, is_noun, requires_plural, requires_singular
from specdec_cli.corruption.edits import TokenEdit, match_case, replace_token, set_text
from specdec_cli.corruption.lexicon import form, readings
from specdec_cli.corruption.tables import alternatives, word_set
from specdec_cli.corruption.tokens import NAME, Sentence, straight

_WRONG_PLURALS = alternatives("""
children: childrens childrens childs
men: mens mans
women: womens womans womans
people: peoples peoples
feet: feets foots
teeth: teeths tooths
mice: mices mouses
police: polices
sheep: sheeps
fish: fishes
information: informations
advice: advices
homework: homeworks
furniture: furnitures
equipment: equipments
luggage: luggages
knowledge: knowledges
news: new
evidence: evidences
vocabulary: vocabularies
staff: staffs
software: softwares
""")
_AGREEING = word_set("is was has does isn't wasn't")
_AGREEING_PLURAL = word_set("are were have do aren't weren't")
_NOT_POSSESSIVE = word_set("it he she that what who there here where how let when why this everyone everything")
_SHARE_IF_UNCLEAR = 0.2
_SHARE_OF_MANY = 0.5
_OPENING = "\u2018"


def noun_number(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Replace a plural by the singular (many reason, three car) or vice versa (a cars, the reasons is, advices).

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    if not sentence.is_plain(i):
        return None
    word = sentence.words[i]
    tags = readings(word)
    if word in UNCOUNTABLE:
        return replace_token(sentence, i, f"{word}s") if "NN" in tags and word != "news" and is_noun(sentence, i) else None
    if ("NN" in tags) == ("NNS" in tags) or not is_noun(sentence, i):
        return None
    position = determiner_of(sentence, i)
    determiner = sentence.words[position]
    if "NNS" in tags:
        clear = requires_plural(determiner) or sentence.words[i + 1] in _AGREEING_PLURAL or _is_one_of(sentence, position)
        other = form(word, "NNS", "NN")
    else:
        clear = requires_singular(determiner) or sentence.words[i + 1] in _AGREEING
        other = form(word, "NN", "NNS")
    # A singular without a determiner is an error already, and its plural often would be right.
    if not clear and (("NN" in tags and position < 0) or random.random() >= _SHARE_IF_UNCLEAR):
        return None
    edit = replace_token(sentence, i, other)
    return edit and edit.covering(max(position, 0) if position >= 0 else i, i + (sentence.words[i + 1] in _AGREEING | _AGREEING_PLURAL))


def _is_one_of(sentence: Sentence, position: int) -> bool:
    return position >= 2 and sentence.words[position - 1] == "of" and sentence.words[position - 2] in ("one", "some", "many", "most", "all")


def double_plural(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Add a plural ending to an irregular plural or an uncountable noun: childrens, informations, many good advices.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    others = _WRONG_PLURALS.get(sentence.words[i])
    if others is None or sentence.words[i + 1] == NAME or not sentence.is_plain(i):
        return None
    plural = random.choice(others)
    counted = sentence.words[i] in UNCOUNTABLE and plural.endswith("s") and random.random() < _SHARE_OF_MANY
    first = _amount_before(sentence, i) if counted else i
    if first == i:
        return replace_token(sentence, i, plural)
    described = f"{sentence.words[i - 1]} " if sentence.words[i - 1] not in ("of", "much", "some") else ""
    many = match_case("many", sentence.tokens[first].text, first in sentence.initials)
    return TokenEdit(sentence.tokens[first].start, sentence.tokens[i].end, f"{many} {described}{plural}", first, i)


def _amount_before(sentence: Sentence, i: int) -> int:
    """The index of the first word of `a lot of`, `much` or `some` before token i and at most one adjective; i if there is none."""
    words = sentence.words
    last = i - 1 if words[i - 1] in ("of", "much", "some") else i - 2 if "JJ" in readings(words[i - 1]) else -1
    if last < 0:
        return i
    if words[last] in ("much", "some"):
        return last
    return last - 2 if last >= 2 and words[last - 2 : last + 1] == ["a", "lot", "of"] else i


def possessive(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Replace `John's book` by `John book`, `Johns book` or `Johns' book`; `the boys' room` by `the boys room` or `boy's`.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    tokens = sentence.tokens
    text = tokens[i].text
    if straight(text[-2:]) == "'s" and text[:-2].lower() not in _NOT_POSSESSIVE and sentence.is_wordlike(i + 1):
        stem = text[:-2]
        return set_text(sentence, i, random.choice((stem, f"{stem}s", f"{stem}s", f"{stem}s{text[-2]}")))
    following = sentence.words[i + 1]
    if straight(following) != "'" or sentence.gap(i) or not text.endswith("s") or not sentence.gap(i + 1):
        return None
    # The apostrophe may be a closing quotation mark.
    if any(token.text in ("'", _OPENING) for token in tokens[:i]):
        return None
    new = random.choice((text, f"{text[:-1]}{following}s"))
    return TokenEdit(tokens[i].start, tokens[i + 1].end, new, i, i + 1)
