"""A sentence that explains an edit."""

from specdec_cli.corruption.closed import ARTICLES, CONJUNCTIONS
from specdec_cli.error_types.confusions import difference
from specdec_cli.error_types.names import CATEGORIES
from specdec_cli.text.edits import Edit

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
