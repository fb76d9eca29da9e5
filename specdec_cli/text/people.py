"""Names of people and places that a text shows to be names: those behind titles, and those with foreign letters."""

import re
from collections.abc import Iterator

from specdec_cli.text.locale.languages import short_code

_CAPITAL = r"[^\W\d_a-z\u00df-\u00f6\u00f8-\u00ff]"
_NAME = rf"{_CAPITAL}[^\W\d_]*(?:(?:-|['\u2019](?={_CAPITAL}))[^\W\d_]+)*"
_TITLES = {
    "de": re.compile(
        r"(?:\b(?:Herrn?|Frau|Fr\u00e4ulein|Familie|Dr\.|Prof\.|Fa\.|Firma|geb\.|geborene|unterschrieben von)|(?<!\w)i\. ?[AV]\.)"
        r"(?: (?:Dr|Prof)\.)* "
        rf"(?:(?:von|van|de|zu)(?: de[mnr])? )?(?P<name>{_NAME})"
    ),
    "en": re.compile(rf"\b(?:Mr|Mrs|Ms|Dr|Prof)\.? (?P<name>{_NAME}(?: {_NAME}){{0,2}})"),
}
"""A title and the name behind it. In German, another word with a capital may be a noun."""
_FOREIGN = {"en": re.compile(rf"\b(?P<name>(?=[^\W\d_]*[^\W\d_\x00-\x7f]){_NAME}(?: {_NAME}){{1,2}})")}
"""A name of several words, of which the first has a letter that the language has not."""
_OFFICE = re.compile(
    r"(?:\w*(?:pr\u00e4sident|minister|kanzler|kommissar|direktor|meister|professor|doktor|senator|general|sekret\u00e4r|botschafter|kolleg"
    r"|vorsitzend|abgeordnet|nachbar|lehrer|pfarrer|richter|anwalt|oberst|ober|gott)(?:in|innen|e[rn]?|[ns])?"
    r"|president|chairman|speaker|secretary|minister|ambassador|commissioner|rapporteur|prime)",
    re.IGNORECASE,
)
"""What a person is, which may stand behind a title, and is translated."""


def lost_names(source: str, output: str, language: str) -> list[str]:
    """The names of `source`, in `language`, that `output` lacks, or has changed; names that no title or letter shows are not looked for."""
    return [name for name in names_in(source, language) if not all(_stem(word) in output for word in name.split())]


def names_in(text: str, language: str) -> Iterator[str]:
    """The names behind titles in a text, such as "Herr Müller", without words for an office; in English also those of several words whose
    first one has a foreign letter (São Paulo).
    """
    code = short_code(language)
    for pattern in filter(None, (_TITLES.get(code), _FOREIGN.get(code))):
        for found in pattern.finditer(text):
            words = found["name"].split()
            while words and _OFFICE.fullmatch(words[0]):
                words.pop(0)
            if words:
                yield " ".join(words)


def _stem(word: str) -> str:
    """A name without the s of a genitive."""
    return word[:-1] if len(word) > 3 and word.endswith("s") else word
