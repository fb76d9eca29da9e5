"""Greetings of letters, with names of one person or several, and their translations."""

import re
from collections.abc import Mapping, Sequence

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
"""What is between the people of a greeting: "Dear Anna, Tom and Mary"."""
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
        same = (each for each in self._shared if all(target.startswith(f"{each} ") for target in targets))
        greeting, between = min(same, key=len, default=""), self._translated_conjunction(conjunction or "and")
        if not greeting or greeting.count(" ") > 1 or not between:
            return ", ".join([targets[0], *(target[0].lower() + target[1:] for target in targets[1:])])
        names = [target.removeprefix(f"{greeting} ") for target in targets]
        return f"{greeting} {', '.join(names[:-1])} {between} {names[-1]}"

    def _translated_conjunction(self, word: str) -> str:
        """The translation of a conjunction, if it is a label; otherwise ""."""
        found = next((self._targets[each] for each in (word, "and", "und") if each in self._targets), "")
        return word if word == "&" else found.lower()

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
