"""Labels, such as the words of menus, buttons, forms and headers of tables, and greetings of letters, with their translations."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from specdec_cli.errors import InputError, ModelError
from specdec_cli.files import write_text
from specdec_cli.text.io.lines import read_listed
from specdec_cli.text.locale.languages import NAME_PARTICLES
from specdec_cli.text.protect.spans import kind_of

NAME = "{name}"
"""Stands for the name of a person in a greeting and in its translation."""
_GREETING = re.compile(r"([^,:!]{1,100})[,:!](?=\s|$)")
_NAME_WORD = re.compile(r"[^\W\d_](?:[^\W\d_]|['\u2019-])*|[^\W\d_]\.")
"""A word of a name, or an initial."""
_LONGEST_NAME = 6
"""Words of a name at most."""
_BETWEEN_PEOPLE = re.compile(r",? (and|und|&) |, ")
"""The separators of names in a greeting, such as "Dear Anna, Tom and Mary"."""
_MOST_PEOPLE = 4
_CONJUNCTION = re.compile(" (?:and|und) ")


class Greetings:
    """The greetings among `translations` of labels: those with a comma at the end. One may have a name in it ("Dear Mr. {name},").

    A text may also greet several people ("Dear Anna and Tom,", "Liebe Anna, lieber Tom,").
    """

    def __init__(self, translations: Mapping[str, str]) -> None:
        self._targets = {label.casefold(): target for label, target in translations.items()}
        # By their first words. The longest label that fits counts, since it leaves the fewest words to the name.
        self._with_names: dict[str, list[str]] = {}
        for label in sorted((each for each in translations if NAME in each), key=len, reverse=True):
            self._with_names.setdefault(_first_word(label), []).append(label)
        self._words_before_names = {
            word.casefold() for labels in self._with_names.values() for label in labels for word in label.partition(NAME)[0].split()[-1:]
        }
        self._shared = {target.removesuffix(f" {NAME},") for target in translations.values() if target.endswith(f" {NAME},")}

    def find(self, text: str) -> str | None:
        """The translation of `text`, if it is a greeting: with a comma, colon or exclamation mark at its end, which stays, or with a title
        and a name and without a mark ("Dear Mr. Smith"). Other labels with a name are translated, too.
        """
        if text and self.end(text) == len(text) and (found := self._greeting(text[:-1])) is not None:
            return found[:-1] + text[-1]
        if (titled := self._named(f"{text},", least=2)) is not None:
            return titled[:-1]
        return self._named(text)

    def end(self, text: str) -> int:
        """If `text` begins with a greeting and a comma, colon or exclamation mark, the length of both; otherwise 0."""
        position, end = 0, 0
        for _ in range(_MOST_PEOPLE):
            matched = _GREETING.match(text, end)
            if matched is None or (not end and self._greeting(matched[1]) is None):
                break
            if not end or self._of_several(text[: matched.end() - 1]) is not None:
                position = matched.end()
            end = matched.end()
        return position

    def _greeting(self, text: str) -> str | None:
        """The translation of a greeting that is given without the mark at its end; the translation ends with a comma."""
        return self._targets.get(f"{text},".casefold()) or self._named(f"{text},") or self._of_several(text)

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
        names = [self._named(f"{people[0]},")]
        for person, conjunction in zip(people[1:], conjunctions, strict=True):
            own = self._named(f"{person[:1].upper()}{person[1:]},")
            if own is None and len(names) == len(people) - 1 and conjunction is None:
                return None
            names.append(own or next(filter(None, (self._named(f"{each} {person},") for each in greetings)), None))
        targets = [target[:-1] for target in names if target is not None]
        return f"{self._joined(targets, conjunctions[-1])}," if len(targets) == len(people) else None

    def _joined(self, targets: Sequence[str], conjunction: str | None) -> str:
        """The translations of greetings as one, with a single greeting for all names if it is the same: "Hallo Anna und Tom"."""
        same = (each for each in self._shared if all(target.startswith(f"{each} ") for target in targets))
        greeting, between = min(same, key=len, default=""), self._translated_conjunction(conjunction or "and")
        if not greeting or greeting.count(" ") > 1 or not between:
            return ", ".join([targets[0], *(target[0].lower() + target[1:] for target in targets[1:])])
        names = [target.removeprefix(f"{greeting} ") for target in targets]
        return f"{greeting} {', '.join(names[:-1])} {between} {names[-1]}"

    def _translated_conjunction(self, word: str) -> str:
        """The translation of a conjunction, if it is a label; otherwise ""."""
        conjunction = next((self._targets[each] for each in (word, "and", "und") if each in self._targets), "")
        return word if word == "&" else conjunction.lower()

    def _named(self, text: str, *, least: int = 1) -> str | None:
        """The translation of `text`, if it is a label with a name, in which "&" may be in the place of "and". Only labels with at least
        `least` words before the name are tried.
        """
        for label in self._with_names.get(_first_word(text), ()) if text[:1].isupper() else ():
            own = _CONJUNCTION.sub(" & ", label) if " & " in text else label
            before, _, behind = own.partition(NAME)
            name = text[len(before) : len(text) - len(behind)]
            if before.count(" ") >= least and text.casefold() == f"{before}{name}{behind}".casefold() and self._is_name(name):
                return self._targets[label.casefold()].replace(NAME, name)
        return None

    def _is_name(self, text: str) -> bool:
        """Whether `text` can be a name, and begins with no title or greeting."""
        return _is_name(text) and _first_word(text) not in self._words_before_names


def _first_word(text: str) -> str:
    """The first word of a text in small letters."""
    return text.partition(" ")[0].casefold()


def _is_name(text: str) -> bool:
    """Whether `text` can be a name: each word has a capital, or is a particle such as "von" that is not the last word. A comma may be
    behind a word, as in "Smith, Anna". A placeholder may stand for a name.
    """
    if kind_of(text) is not None:
        return True
    words = text.replace(", ", " ", 1).split(" ")
    if len(words) > _LONGEST_NAME or not all(map(_NAME_WORD.fullmatch, words)):
        return False
    return words[-1][:1].isupper() and all(word[:1].isupper() or word in NAME_PARTICLES for word in words)


FILE = "labels.tsv"
"""The name of the file of labels in a bundle: label, tab, translation on each line; lines that begin with # are comments."""
_LABEL = re.compile(r"(.+?)(,|\s?(?::|\.\.\.|\u2026))?")
"""A label, and a mark at its end that ends no sentence."""
COMMAND = "{command}"
"""Stands for the value of a field that is the name of a command ("Button: {command}")."""
_NAME = re.compile(r"[^\W_][^\s:]*(?: [^\s:]+){0,3}")
"""The name of a field: at most four words."""
_FIELD = re.compile(r"(\*{1,3}|_{1,3}|)(.+?)(:\1 +|\1: +)(\S.*)")
"""A field of a form: the mark of bold type, its name, the colon, and its value."""
_DASHED = re.compile(r"(.+?)( [-\u2013\u2014] )(.+)")
"""A name and a value with a dash between them."""
ENDS_NAME = re.compile(r"[*_]{0,3}:[*_]{0,3} | [-\u2013\u2014] $")
"""The gap between the name of a field and its value."""
_LETTERS = re.compile(r"[^\W\d_]+")
_GAP = re.compile(r"[,;] ")
"""What is between fields."""


class Labels:
    """Translations of labels: texts of few words that are no sentences, of which a model makes little without their context.

    - A label that ends with a comma is a greeting (see Greetings).
    - One that ends with a colon is the name of a field, if this differs from the word alone ("Order:" is "Bestellung:").
    - One that begins with a colon is the value of a field (": Open" is ": Geöffnet"). Those are states, too, which stand in rows of tables.
    - A name of a field with "{command}" has commands as values: "Button: {command}". These are translated as those that stand alone.
    """

    def __init__(self, translations: Mapping[str, str]) -> None:
        self._translations = dict(translations)
        self._by_letters = {label.casefold(): label for label in self._translations}
        self.greetings = Greetings(self._translations)

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
        write_text(path, content)

    def find(self, text: str) -> str | None:
        """The translation of `text`, if it is a label. It may have more capitals than the label in the list: at the beginnings of words, or
        everywhere; then the translation is in capitals, too.

        A mark at the end of `text` stays: a colon, an ellipsis or a comma (as after "Best regards"), and after a greeting an exclamation
        mark. A greeting with a title ("Dear Mr. Smith") needs none.
        """
        if (greeting := self.greetings.find(text)) is not None or (matched := _LABEL.fullmatch(text)) is None:
            return greeting
        if matched[2] == ":" and (named := self._listed(text)) is not None:
            return named
        target = self._listed(matched[1])
        return None if target is None else target + (matched[2] or "")

    def fields(self, text: str) -> list[tuple[str, str, str, str]]:
        """The fields of a form that `text` consists of, each as the gap before it, its name, the colon with a space, and its value; none if
        it is no such text.

        The name of a field, or its value, is a label. Of several fields with commas or semicolons between, the names are labels. A name may
        be in bold type of Markdown, with the colon or without it. A label with a colon in it, such as
        "Name: {name}", is no field. With a dash, the name is a label, and the value a label or an amount.
        """
        if (dashed := _DASHED.fullmatch(text)) is not None and self._is_dashed(dashed[1], dashed[3]):
            return [("", dashed[1], dashed[2], dashed[3])]
        if ":" not in text or self._listed(text) is not None or self.greetings.find(text) is not None:
            return []
        gaps = ["", *_GAP.findall(text)]
        several = [field for part in _GAP.split(text) if (field := _FIELD.fullmatch(part)) is not None]
        if len(several) == len(gaps) > 1 and all(self.find(field[2]) is not None for field in several):
            return [(gap + field[1], field[2], field[3], field[4]) for gap, field in zip(gaps, several, strict=True)]
        if (field := _FIELD.fullmatch(text)) is None:
            return []
        mark, name, colon, value = field.groups()
        is_known = self.find(name) is not None or (_NAME.fullmatch(name) and self.find_value(name, value) is not None)
        return [(mark, name, colon, value)] if is_known else []

    def _is_dashed(self, name: str, value: str) -> bool:
        """Whether a name and a value that have a dash between them are a field: the value is a label too, or an amount."""
        if _NAME.fullmatch(name) is None or self.find(name) is None:
            return False
        return self.find_value(name, value) is not None or not any(len(word) > 3 for word in _LETTERS.findall(value))

    def find_name(self, text: str) -> str | None:
        """The translation of the name of a field, which is given without its colon."""
        target = self.find(f"{text}:")
        return None if target is None else target[:-1]

    def find_value(self, name: str, text: str) -> str | None:
        """The translation of `text`, if it is a label, as the value of the field `name`, which may have a number ("Step 2")."""
        is_command = f"{name.rstrip('0123456789 ')}: {COMMAND}".casefold() in self._by_letters
        return (None if is_command else self._state(text)) or self.find(text)

    def find_state(self, text: str, others: Iterable[str]) -> str | None:
        """The translation of `text`, if it is the name of a state in a table of data: one of the `others` in its row is a number, or a
        state that has no other meaning.
        """
        state = self._state(text)
        return None if state is None or not any(other[-1:].isdigit() or self._is_state(other) for other in others) else state

    def _is_state(self, text: str) -> bool:
        state = self._state(text)
        return state is not None and self._listed(text) in (None, state)

    def _state(self, text: str) -> str | None:
        target = self._listed(f": {text}")
        return None if target is None else target[2:]

    def _listed(self, text: str) -> str | None:
        """The translation of a label without a mark that is not in the list."""
        label = self._by_letters.get(text.casefold())
        if label is None:
            return None
        if all(word in (own, own[:1].upper() + own[1:]) for word, own in zip(text.split(" "), label.split(" "), strict=True)):
            return self._translations[label]
        return self._translations[label].upper() if text.isupper() else None


def _translations(path: Path, lines: Iterable[tuple[int, str]]) -> dict[str, str]:
    translations: dict[str, str] = {}
    letters = set[str]()
    for number, line in lines:
        fields = line.split("\t")
        if len(fields) != 2 or any(not field or field != " ".join(field.split()) for field in fields):
            raise ModelError(f"{path}, line {number}: not a label, a tab and its translation")
        marks = [(field.endswith(","), field.endswith(":"), field.startswith(": "), field.count(COMMAND)) for field in fields]
        if fields[0].count(NAME) != (NAME in fields[1]) or marks[0] != marks[1]:
            raise ModelError(
                f"{path}, line {number}: a label and its translation need the same comma or colon at the end, the same colon at the"
                f" beginning, the same {COMMAND}, and {NAME}, a label once"
            )
        if fields[0].casefold() in letters:
            raise ModelError(f"{path}, line {number}: {fields[0]!r} stands in the file twice")
        letters.add(fields[0].casefold())
        translations[fields[0]] = fields[1]
    return translations
