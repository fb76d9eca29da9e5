"""Pairs with other names of people, so that a model learns to copy names."""

import random
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from specdec_cli.text.corpus.parallel import Pair
from specdec_cli.text.edits import Edit, apply_edits

_LISTS = {name: tuple(names.split()) for name, names in tomllib.loads(Path(__file__).with_name("people.toml").read_text("utf-8")).items()}
FEMALE, MALE, FAMILY, NOT_REPLACED = (frozenset(_LISTS[name]) for name in ("female", "male", "family", "not_replaced"))
_KINDS = {name: _LISTS[kind] for kind in ("female", "male", "family") for name in _LISTS[kind]}
"""The names of the kind of each name."""
_WORD = re.compile(r"\b[A-Z][A-Za-z]+\b")
_BARE_APOSTROPHE = re.compile(r"(?<=[sxzß])['\u2019](?!\w)")
"""What may be the mark of a genitive after a name, or a quotation mark."""


@dataclass(frozen=True)
class _Name:
    """A name in a text; `end` is behind a German genitive s, which English writes after an apostrophe, outside the name."""

    start: int
    end: int
    text: str
    genitive: bool = False


def with_other_names(pair: Pair, draw: random.Random) -> Pair:
    """Replace each name of the lists that both sides have equally often by a random one of its list: a first name by one of the same
    gender, a family name by another. Different names become different ones, which the pair does not have. Returns the pair itself if there
    is none. A genitive s of the target or the source (Toms Haus, Tom's house) goes with its name."""
    texts = (pair.source, pair.target)
    if any(_BARE_APOSTROPHE.match(text, match.end()) for text in texts for match in _WORD.finditer(text)):
        return pair
    sides = [list(_names(text, other)) for text, other in zip(texts, reversed(texts), strict=True)]
    counts = [Counter(name.text for name in side) for side in sides]
    both = [name for name in counts[0] if counts[0][name] == counts[1][name] and name not in NOT_REPLACED]
    taken = {match.group() for text in texts for match in _WORD.finditer(text)} | {name.text for side in sides for name in side}
    changes = dict[str, str]()
    for name in both:
        changes[name] = draw.choice([other for other in _KINDS[name] if other not in taken])
        taken.add(changes[name])
    return Pair(_edited(pair.source, sides[0], changes), _edited(pair.target, sides[1], changes), pair.domain)


def _names(text: str, other: str) -> Iterator[_Name]:
    """Yield the names of the lists in a text, in order. A name with an s is a genitive if `other`, the other side, has it without."""
    words = set(_WORD.findall(other))
    for match in _WORD.finditer(text):
        word = match.group()
        if word.endswith("s") and word not in words and word[:-1] in _KINDS and word[:-1] in words:
            yield _Name(match.start(), match.end(), word[:-1], genitive=True)
        elif word in _KINDS:
            yield _Name(match.start(), match.end(), word)


def _edited(text: str, names: list[_Name], changes: dict[str, str]) -> str:
    edits = []
    for name in names:
        if (new := changes.get(name.text)) is not None:
            mark = ("\u2019" if new[-1] in "sxz" else "s") if name.genitive else ""
            edits.append(Edit(name.start, name.end, text[name.start : name.end], new + mark))
    return apply_edits(text, edits)
