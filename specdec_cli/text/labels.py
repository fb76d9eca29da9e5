"""Labels, such as the words of menus, buttons and headers of tables, and greetings of letters, with their translations."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from specdec_cli.errors import InputError, ModelError
from specdec_cli.files import write_atomically
from specdec_cli.text.io.lines import read_listed
from specdec_cli.text.locale.languages import NAME_PARTICLES

FILE = "labels.tsv"
"""The name of the file of labels in a bundle: label, tab, translation on each line; lines that begin with # are comments."""
_LABEL = re.compile(r"(.+?)(,|\s?(?::|\.\.\.|\u2026))?")
"""A label, and a mark at its end that ends no sentence."""
NAME = "{name}"
"""Stands for the name of a person in a label and in its translation."""
_GREETING = re.compile(r"([^,:!]{1,100})[,:!](?=\s|$)")
_NAME_WORD = re.compile(r"[^\W\d_](?:[^\W\d_]|['\u2019-])*|[^\W\d_]\.")
"""A word of a name, or an initial."""
_LONGEST_NAME = 6
"""Words of a name at most."""


class Labels:
    """Translations of labels: texts of few words that are no sentences, of which a model makes little without their context.

    A label that ends with a comma is a greeting, which may have a name in it ("Dear Mr. {name},").
    """

    def __init__(self, translations: Mapping[str, str]) -> None:
        self._translations = dict(translations)
        self._by_letters = {label.casefold(): label for label in self._translations}
        # By their first words. The longest label that fits counts, since it leaves the fewest words to the name.
        self._with_names: dict[str, list[str]] = {}
        for label in sorted((each for each in self._translations if NAME in each), key=len, reverse=True):
            self._with_names.setdefault(_first_word(label), []).append(label)

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
        """The translation of `text`, if it is a label. It may have more capitals than the label in the list: at the beginnings of words, or
        everywhere; then the translation is in capitals, too.

        A mark at the end of `text` stays: a colon, an ellipsis or a comma (as after "Best regards"), and after a greeting an exclamation
        mark. A greeting with a title ("Dear Mr. Smith") needs none.
        """
        greeting = _GREETING.fullmatch(text)
        if greeting is not None and (found := self._greeting(greeting[1])) is not None:
            return found[:-1] + text[-1]
        if (titled := self._named(f"{text},", least=2)) is not None:
            return titled[:-1]
        if (named := self._named(text)) is not None:
            return named
        matched = _LABEL.fullmatch(text)
        label = None if matched is None else self._by_letters.get(matched[1].casefold())
        if matched is None or label is None:
            return None
        written, mark = matched[1], matched[2] or ""
        if all(word in (own, own[:1].upper() + own[1:]) for word, own in zip(written.split(" "), label.split(" "), strict=True)):
            return self._translations[label] + mark
        return self._translations[label].upper() + mark if written.isupper() else None

    def greeting_end(self, text: str) -> int:
        """If `text` begins with a greeting and a comma, colon or exclamation mark, the length of both; otherwise 0."""
        matched = _GREETING.match(text)
        return 0 if matched is None or self._greeting(matched[1]) is None else matched.end()

    def _greeting(self, text: str) -> str | None:
        """The translation of a greeting that is given without the mark at its end; the translation ends with a comma."""
        label = self._by_letters.get(f"{text},".casefold())
        return self._translations[label] if label is not None else self._named(f"{text},")

    def _named(self, text: str, *, least: int = 1) -> str | None:
        """The translation of `text`, if it is a label with a name. Only labels with at least `least` words before the name are tried."""
        for label in self._with_names.get(_first_word(text), ()) if text[:1].isupper() else ():
            before, _, behind = label.partition(NAME)
            name = text[len(before) : len(text) - len(behind)]
            if before.count(" ") >= least and text.casefold() == f"{before}{name}{behind}".casefold() and _is_name(name):
                return self._translations[label].replace(NAME, name)
        return None


def _first_word(text: str) -> str:
    """The first word of a text in small letters."""
    return text.partition(" ")[0].casefold()


def _is_name(text: str) -> bool:
    """Whether `text` can be a name: each word has a capital, or is a particle such as "von" that is not the last word."""
    words = text.split(" ")
    if len(words) > _LONGEST_NAME or not all(map(_NAME_WORD.fullmatch, words)):
        return False
    return words[-1][:1].isupper() and all(word[:1].isupper() or word in NAME_PARTICLES for word in words)


def _translations(path: Path, lines: Iterable[tuple[int, str]]) -> dict[str, str]:
    found: dict[str, str] = {}
    letters = set[str]()
    for number, line in lines:
        fields = line.split("\t")
        if len(fields) != 2 or any(not field or field != " ".join(field.split()) for field in fields):
            raise ModelError(f"{path}, line {number}: not a label, a tab and its translation")
        if fields[0].count(NAME) != (NAME in fields[1]) or fields[0].endswith(",") != fields[1].endswith(","):
            raise ModelError(f"{path}, line {number}: a label and its translation need the same comma at the end and {NAME}, a label once")
        if fields[0].casefold() in letters:
            raise ModelError(f"{path}, line {number}: {fields[0]!r} stands in the file twice")
        letters.add(fields[0].casefold())
        found[fields[0]] = fields[1]
    return found
