"""The names of error types (an operation M, U or R, a colon, and a category), and sentences that explain the edits."""

from collections.abc import Iterable
from typing import NamedTuple

from specdec_cli.english.words import ARTICLES, CONJUNCTIONS
from specdec_cli.errors import UsageError
from specdec_cli.text.edits import Edit

OPERATIONS = {"M": "missing", "U": "unnecessary", "R": "replaced"}
"""The operations: what an edit inserts was missing, and so on."""


class Category(NamedTuple):
    """A category: what is missing or not needed, and what is wrong where words are replaced."""

    thing: str
    wrong: str


CATEGORIES = {
    "ADJ": Category("an adjective", "the adjective is wrong"),
    "ADJ:FORM": Category("a form of an adjective", "the comparative or superlative is wrong"),
    "ADV": Category("an adverb", "the adverb is wrong"),
    "CONJ": Category("a conjunction", "the conjunction is wrong"),
    "CONTR": Category("a contraction", "the contraction is wrong"),
    "DET": Category("a determiner", "the determiner is wrong"),
    "MORPH": Category("a form of a word", "the word has the wrong form"),
    "NOUN": Category("a noun", "the noun is wrong"),
    "NOUN:INFL": Category("a form of a noun", "the noun has no such form"),
    "NOUN:NUM": Category("a form of a noun", "the noun has the wrong number"),
    "NOUN:POSS": Category("a possessive ending", "the possessive form is wrong"),
    "ORTH": Category("a space", "spaces or capital letters are wrong"),
    "OTHER": Category("a word", "the wording is wrong"),
    "PART": Category("a particle", "the particle is wrong"),
    "PREP": Category("a preposition", "the preposition is wrong"),
    "PRON": Category("a pronoun", "the pronoun is wrong"),
    "PUNCT": Category("a punctuation mark", "the punctuation is wrong"),
    "SPELL": Category("a word", "the word is misspelled"),
    "VERB": Category("a verb", "the verb is wrong"),
    "VERB:FORM": Category("a part of a verb form", "the verb has the wrong form"),
    "VERB:INFL": Category("a form of a verb", "the verb has no such form"),
    "VERB:SVA": Category("a form of a verb", "the verb does not agree with its subject"),
    "VERB:TENSE": Category("an auxiliary verb", "the verb has the wrong tense"),
    "WO": Category("a word", "the order of the words is wrong"),
}
"""The categories, those of ERRANT."""


def belongs_to(type: str, name: str) -> bool:
    """Whether an error type is `name`, or one of its kinds; `name` may have an operation or not (R:VERB, VERB, VERB:SVA, M)."""
    return any(f"{each}:".startswith(f"{name}:") for each in (type, type.partition(":")[2]))


def checked_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return names of types or categories in upper case. Raises UsageError for one that no type belongs to."""
    checked = tuple(name.upper() for name in names)
    for name in checked:
        if not any(belongs_to(f"{operation}:{category}", name) for operation in OPERATIONS for category in CATEGORIES):
            raise UsageError(f"--ignore-category {name}: not known; there are {', '.join(CATEGORIES)}, also after M:, U: or R:")
    return checked


_MEANINGS = {
    "its": "“its” means “of it”",
    "it's": "“it's” means “it is” or “it has”",
    "your": "“your” means “of you”",
    "you're": "“you're” means “you are”",
    "their": "“their” means “of them”",
    "they're": "“they're” means “they are”",
    "there": "“there” means “in that place”",
    "whose": "“whose” means “of whom”",
    "who's": "“who's” means “who is” or “who has”",
    "of": "“of” is a preposition",
    "have": "“have” is the verb after “could”, “should” and the like",
}
_CONFUSED = (("its", "it's"), ("your", "you're"), ("their", "they're", "there"), ("whose", "who's"), ("of", "have"))


def difference(edit: Edit) -> str | None:
    """What tells the two words of an edit apart, if they are often taken for each other."""
    old, new = (text.lower().replace("\u2019", "'") for text in (edit.source, edit.text))
    confused = any(old in words and new in words for words in _CONFUSED)
    return f"{_MEANINGS[old]}, {_MEANINGS[new]}" if confused and old != new else None


_ONE_SIDED = {"M": "missing", "U": "not needed"}
_JOINING = (CONJUNCTIONS | {"that"}) - {"as"}
"""Words that join clauses; ERRANT counts some of them among the prepositions."""
_MARKS = {
    ",": "a comma",
    ".": "a full stop",
    "?": "a question mark",
    "!": "an exclamation mark",
    ":": "a colon",
    ";": "a semicolon",
    "-": "a hyphen",
    "'": "an apostrophe",
    "\u2019": "an apostrophe",
    '"': "a quotation mark",
}


def explanation(edit: Edit) -> str:
    """What is wrong and what to do: the verb does not agree with its subject: use “has” instead of “have”."""
    action, told_apart = _action(edit), difference(edit)
    if told_apart:
        return f"{told_apart}: {action}"
    reasons = dict.fromkeys(reason(type, edit) for type in edit.types)
    return f"{', and '.join(reasons)}: {action}" if reasons else action


def description(type: str) -> str:
    """What is wrong with a text that has an error of this type."""
    operation, _, category = type.partition(":")
    if operation == "R":
        return CATEGORIES[category].wrong
    return f"{CATEGORIES[category].thing} is {_ONE_SIDED[operation]}"


def reason(type: str, edit: Edit) -> str:
    """What is wrong with the text of an edit that corrects an error of this type."""
    operation, _, category = type.partition(":")
    old, new = edit.source.strip(), edit.text.strip()
    if category == "PREP" and {old.lower(), new.lower()} <= _JOINING | {""}:
        category = "CONJ"
    if operation == "R":
        if category == "ORTH":
            return "capital letters are wrong" if old != new and old.casefold() == new.casefold() else "spaces are wrong"
        is_article = category == "DET" and {old.lower(), new.lower()} <= ARTICLES
        return "the article is wrong" if is_article else CATEGORIES[category].wrong
    text, thing = (new if operation == "M" else old).lower(), CATEGORIES[category].thing
    if category == "PUNCT":
        thing = _MARKS.get(text, thing)
    elif category == "DET" and text in ARTICLES:
        thing = "an article"
    return f"{thing} is {_ONE_SIDED[operation]}"


def _action(edit: Edit) -> str:
    if not edit.source:
        return f"add {_shown(edit.text)}"
    if edit.source.strip() == edit.text.strip() and edit.text:
        return _action_on_spaces(edit)
    return f"use {_shown(edit.text)} instead of {_shown(edit.source)}" if edit.text else f"delete {_shown(edit.source)}"


def _action_on_spaces(edit: Edit) -> str:
    """What to do if only the spaces before and after a mark or word change, or their number."""
    text = edit.text.strip()
    if not text:
        return "use one space"
    if edit.source[:1].isspace() and not edit.text[:1].isspace():
        action = "put the space after" if edit.text[-1:].isspace() and not edit.source[-1:].isspace() else "delete the space before"
    else:
        action = "add a space after" if edit.text[-1:].isspace() else "change the spaces beside"
    return f"{action} {_shown(text)}"


def _shown(text: str) -> str:
    """A text between quotation marks, on one line."""
    words = " ".join(text.split())
    return f"\u201c{words}\u201d" if words else "a space"
