"""Labels, such as the words of menus, buttons and headers of tables, with their translations."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from specdec_cli.errors import InputError, ModelError
from specdec_cli.files import write_atomically
from specdec_cli.text.io.lines import read_listed

FILE = "labels.tsv"
"""The name of the file of labels in a bundle: label, tab, translation on each line; lines that begin with # are comments."""
NAME = "{name}"
"""The last word of a label, and of its translation, that stands for a name, as in `Dear Mr. {name}`."""
_LABEL = re.compile(r"(.+?)(,|\s?(?::|\.\.\.|\u2026))?")
"""A label, and a mark at its end that ends no sentence."""
_PARTICLES = r"(?:(?:van|von|de|der|den|di|da|du|zu|la|le) )*"
_NAME_WORD = r"(?!\d)\w(?:\w{0,2}\.|(?:['\u2019-]?[^\W\d_])*)"
_NAME = rf"{_PARTICLES}{_NAME_WORD}(?: {_PARTICLES}{_NAME_WORD}){{0,3}}"
_GREETED = re.compile(rf"({_NAME})([,:!]?)")
"""The name that ends a salutation, of one to four words, and the mark at its end. All but particles must have capitals."""


class Labels:
    """Translations of labels: texts of few words that are no sentences, of which a model makes little without their context."""

    def __init__(self, translations: Mapping[str, str]) -> None:
        self._translations = dict(translations)
        self._by_letters = {label.casefold(): label for label in self._translations}

    @classmethod
    def of_file(cls, path: Path) -> "Labels":
        """Read labels from a file. Raises ModelError that names the file, and the line of a fault."""
        try:
            return cls(_translations(path, read_listed(path)))
        except InputError as error:
            raise ModelError(str(error)) from error

    def save(self, path: Path) -> None:
        """Write the labels to a file, atomically."""
        content = "".join(f"{label}\t{target}\n" for label, target in self._translations.items())
        write_atomically(path, lambda partial: partial.write_text(content, encoding="utf-8", newline="\n"))

    def find(self, text: str) -> str | None:
        """The translation of `text`, if it is a label as it is listed, with capitals at the beginning of more words, or in capitals.

        A translation of capitals is in capitals. A colon, an ellipsis or a comma (as after "Best regards") behind the label stays. A label
        that ends with `{name}` is that of each name: of those that fit, the longest one.
        """
        return self._found(text) or self._greeting(text)

    def _greeting(self, text: str) -> str | None:
        """The translation of a salutation, with its name."""
        words = text.split(" ")
        for count in range(len(words) - 1, 0, -1):
            label = self._by_letters.get(" ".join([*words[:count], NAME]).casefold())
            name = _GREETED.fullmatch(" ".join(words[count:]))
            if label is None or name is None or not (count > 1 or name[2] == ","):
                continue
            if text[:1].isupper() and all(word[0].isupper() or word in _PARTICLES for word in name[1].split(" ")):
                return self._translations[label].replace(NAME, name[1]) + name[2]
        return None

    def _found(self, text: str) -> str | None:
        matched = _LABEL.fullmatch(text)
        label = None if matched is None else self._by_letters.get(matched[1].casefold())
        if matched is None or label is None:
            return None
        written, mark = matched[1], matched[2] or ""
        if all(word in (own, own[:1].upper() + own[1:]) for word, own in zip(written.split(" "), label.split(" "), strict=True)):
            return self._translations[label] + mark
        return self._translations[label].upper() + mark if written.isupper() else None


def _translations(path: Path, lines: Iterable[tuple[int, str]]) -> dict[str, str]:
    found: dict[str, str] = {}
    letters = set[str]()
    for number, line in lines:
        fields = line.split("\t")
        if len(fields) != 2 or any(not field or field != " ".join(field.split()) for field in fields):
            raise ModelError(f"{path}, line {number}: not a label, a tab and its translation")
        if fields[0].casefold() in letters:
            raise ModelError(f"{path}, line {number}: {fields[0]!r} stands in the file twice")
        letters.add(fields[0].casefold())
        found[fields[0]] = fields[1]
    return found
