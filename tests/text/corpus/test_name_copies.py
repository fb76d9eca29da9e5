"""Copies of pairs with other names, in both directions."""

import random
import re

import pytest

from specdec_cli.text.corpus.augmentation import with_copies
from specdec_cli.text.corpus.names import FAMILY, FEMALE, MALE, NOT_REPLACED, with_other_names
from specdec_cli.text.corpus.parallel import Pair

PAIRS = [
    (Pair("Tom left.", "Tom ging.", "web"), [MALE]),
    (Pair("Mary saw Tom and Mary's dog.", "Mary sah Tom und Marys Hund.", "web"), [FEMALE, MALE]),
    (Pair("This is Tom's house.", "Das ist Toms Haus.", "web"), [MALE]),
    (Pair("Mr. Thompson met Alice McCarthy.", "Herr Thompson traf Alice McCarthy.", "web"), [FAMILY, FEMALE, FAMILY]),
]
SAME = [
    Pair("Tom left, and Tom came back.", "Tom ging und kam zurück."),
    Pair("Will he come?", "Will er kommen?"),
    Pair("She lives in Charlotte.", "Sie lebt in Charlotte."),
    Pair("Mary and John", "Maria und Johannes"),
    Pair("Charles' book", "Charles\u2019 Buch"),
    Pair("tom", "tom"),
    Pair("no name", "kein Name"),
]


@pytest.mark.parametrize(("pair", "kinds"), PAIRS)
@pytest.mark.parametrize("turned", [False, True])
def test_copies_have_the_same_other_names_on_both_sides(pair: Pair, kinds: list[frozenset[str]], turned: bool) -> None:
    given = Pair(pair.target, pair.source, pair.domain) if turned else pair
    old = [name for name in re.findall(r"[A-Z]\w+", pair.source) if name in FEMALE | MALE | FAMILY]
    copies = list(with_copies([given], 60, with_other_names))
    assert copies[0] == given and len(set(copies)) == len(copies) > 40
    for copy in copies[1:]:
        english, german = (copy.target, copy.source) if turned else (copy.source, copy.target)
        new = [name for name in re.findall(r"[A-Z]\w+", english) if name in FEMALE | MALE | FAMILY]
        changes = dict(zip(old, new[: len(old)], strict=True))
        assert len(set(changes.values())) == len(changes) and not set(changes.values()) & set(old)
        assert all(name in kind for name, kind in zip(dict.fromkeys(new), kinds, strict=True))
        for name, other in changes.items():
            genitive = other + ("\u2019" if other[-1] in "sxz" else "s")
            pair_english, pair_german = re.sub(rf"\b{name}\b", other, pair.source), re.sub(rf"\b{name}s\b", genitive, pair.target)
            pair = Pair(pair_english, re.sub(rf"\b{name}\b", other, pair_german), pair.domain)
        assert (english, german, copy.domain) == (pair.source, pair.target, "web")
        pair = Pair(given.target, given.source, given.domain) if turned else given


@pytest.mark.parametrize("pair", SAME)
def test_pairs_whose_names_cannot_change_have_no_copies(pair: Pair) -> None:
    assert list(with_copies([pair], 20, with_other_names)) == [pair]


def test_a_name_is_drawn_that_the_pair_does_not_have() -> None:
    draw = random.Random(3)
    pair = Pair(" ".join(sorted(MALE - {"Kevin"})), "Tom")
    assert with_other_names(pair, draw) == Pair(pair.source.replace("Tom ", "Kevin "), "Kevin")


def test_the_lists_do_not_share_names() -> None:
    every = FEMALE | MALE | FAMILY
    assert len(every) == len(FEMALE) + len(MALE) + len(FAMILY) > 900
    assert every > NOT_REPLACED
    assert all(re.fullmatch(r"[A-Z][A-Za-z]+", name) for name in every)
    assert not {name for name in FAMILY if name.endswith("s") and name[:-1] in every}, "genitives"


def test_copies_are_the_same_for_a_seed() -> None:
    pairs = [pair for pair, _ in PAIRS]
    assert list(with_copies(pairs, 3, with_other_names)) == list(with_copies(pairs, 3, with_other_names))
