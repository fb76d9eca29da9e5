"""Words that are often taken for each other, and what tells them apart."""

from specdec_cli.text.edits import Edit

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
