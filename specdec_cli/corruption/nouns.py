"""Errors of nouns: number, plurals of uncountable nouns, possessives."""

from random import Random

from specdec_cli.corruption.context import determiner_of, is_noun, requires_plural, requires_singular
from specdec_cli.corruption.edits import TokenEdit, replace_token, set_text
from specdec_cli.corruption.lexicon import form, readings
from specdec_cli.corruption.tables import word_set
from specdec_cli.corruption.tokens import Sentence, straight

_UNCOUNTABLE = word_set(
    "information advice knowledge equipment furniture homework research evidence luggage traffic progress money music "
    "software news weather feedback training education pollution violence behaviour behavior health luck happiness help "
    "work accommodation vocabulary clothing food water staff scenery jewellery jewelry transportation hardware"
)
_AGREEING = word_set("is was has does isn't wasn't")
_AGREEING_PLURAL = word_set("are were have do aren't weren't")
_NOT_POSSESSIVE = word_set("it he she that what who there here where how let when why this everyone everything")
_SHARE_IF_UNCLEAR = 0.2
_OPENING = "\u2018"


def noun_number(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Replace a plural by the singular (many reason, three car) or vice versa (a cars, the reasons is, advices).

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    if not sentence.is_plain(i):
        return None
    word = sentence.words[i]
    tags = readings(word)
    if word in _UNCOUNTABLE:
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
