"""Labels, such as the words of menus, buttons and headers of tables, and greetings of letters, with their translations."""

import re
from collections.abc import Iterable, Mapping, Sequence
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
_BETWEEN_PEOPLE = re.compile(r",? (and|und|&) |, ")
"""What is between the people of a greeting: "Dear Anna, Tom and Mary"."""
_MOST_PEOPLE = 4


class Labels:
    """Translations of labels: texts of few words that are no sentences, of which a model makes little without their context.

    A label that ends with a comma is a greeting, which may have a name in it ("Dear Mr. {name},"). A text may also greet several people
    ("Dear Anna and Tom,", "Liebe Anna, lieber Tom,").
    """

    def __init__(self, translations: Mapping[str, str]) -> None:
        self._translations = dict(translations)
        self._by_letters = {label.casefold(): label for label in self._translations}
        # By their first words. The longest label that fits counts, since it leaves the fewest words to the name.
        self._with_names: dict[str, list[str]] = {}
        for label in sorted((each for each in self._translations if NAME in each), key=len, reverse=True):
            self._with_names.setdefault(_first_word(label), []).append(label)
        self._words_before_names = {
            word.casefold() for labels in self._with_names.values() for label in labels for word in label.partition(NAME)[0].split()[-1:]
        }
        self._greetings_of_names = {
            target.removesuffix(f" {NAME},") for target in self._translations.values() if target.endswith(f" {NAME},")
        }

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
        if text and self.greeting_end(text) == len(text) and (found := self._greeting(text[:-1])) is not None:
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
        found, end = 0, 0
        for _ in range(_MOST_PEOPLE):
            matched = _GREETING.match(text, end)
            if matched is None or (not end and self._greeting(matched[1]) is None):
                break
            if not end or self._of_several(text[: matched.end() - 1]) is not None:
                found = matched.end()
            end = matched.end()
        return found

    def _greeting(self, text: str) -> str | None:
        """The translation of a greeting that is given without the mark at its end; the translation ends with a comma."""
        label = self._by_letters.get(f"{text},".casefold())
        return self._translations[label] if label is not None else self._named(f"{text},") or self._of_several(text)

    def _of_several(self, text: str) -> str | None:
        """The same for a greeting of several people. The greeting of the first one is also that of the others, if they have none of their
        own; at least the last one has one, or a conjunction before it.
        """
        parts = _BETWEEN_PEOPLE.split(text)
        people, conjunctions = parts[::2], parts[1::2]
        if not 1 < len(people) <= _MOST_PEOPLE:
            return None
        words = people[0].split()
        greetings = [" ".join(words[:count]) for count in range(1, len(words))]
        found = [self._named(f"{people[0]},")]
        for person, conjunction in zip(people[1:], conjunctions, strict=True):
            own = self._named(f"{person[:1].upper()}{person[1:]},")
            if own is None and len(found) == len(people) - 1 and conjunction is None:
                return None
            found.append(own or next(filter(None, (self._named(f"{each} {person},") for each in greetings)), None))
        targets = [target[:-1] for target in found if target is not None]
        return f"{self._joined(targets, conjunctions[-1])}," if len(targets) == len(people) else None

    def _joined(self, targets: Sequence[str], conjunction: str | None) -> str:
        """The translations of greetings as one, with a single greeting for all names if it is the same: "Hallo Anna und Tom"."""
        same = (each for each in self._greetings_of_names if all(target.startswith(f"{each} ") for target in targets))
        greeting, between = min(same, key=len, default=""), self._translated_conjunction(conjunction or "and")
        if not greeting or greeting.count(" ") > 1 or not between:
            return ", ".join([targets[0], *(target[0].lower() + target[1:] for target in targets[1:])])
        names = [target.removeprefix(f"{greeting} ") for target in targets]
        return f"{greeting} {', '.join(names[:-1])} {between} {names[-1]}"

    def _translated_conjunction(self, word: str) -> str:
        """The translation of a conjunction, if it is a label; otherwise ""."""
        label = next((self._by_letters[each] for each in (word, "and", "und") if each in self._by_letters), "")
        return word if word == "&" else self._translations.get(label, "").lower()

    def _named(self, text: str, *, least: int = 1) -> str | None:
        """The translation of `text`, if it is a label with a name. Only labels with at least `least` words before the name are tried."""
        for label in self._with_names.get(_first_word(text), ()) if text[:1].isupper() else ():
            before, _, behind = label.partition(NAME)
            name = text[len(before) : len(text) - len(behind)]
            if before.count(" ") >= least and text.casefold() == f"{before}{name}{behind}".casefold() and self._is_name(name):
                return self._translations[label].replace(NAME, name)
        return None

    def _is_name(self, text: str) -> bool:
        """Whether `text` can be a name, and begins with no title or greeting."""
        return _is_name(text) and _first_word(text) not in self._words_before_names


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
