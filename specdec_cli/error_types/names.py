"""The names of error types: an operation (M, U or R), a colon, and a category."""

from collections.abc import Iterable
from typing import NamedTuple

from specdec_cli.errors import UsageError

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
    found = tuple(name.upper() for name in names)
    for name in found:
        if not any(belongs_to(f"{operation}:{category}", name) for operation in OPERATIONS for category in CATEGORIES):
            raise UsageError(f"category {name}: not known; there are {', '.join(CATEGORIES)}, also after M:, U: or R:")
    return found
