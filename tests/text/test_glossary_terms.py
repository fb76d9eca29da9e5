"""Terms of glossaries: where they occur in a text, which come out, and files that are refused."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.errors import InputError, UsageError
from specdec_cli.text.glossary import Glossary, Phrases, Term, come_out, read_glossary, with_kept

Words = st.text(st.sampled_from("aB .-'"), max_size=12)


def found(phrases: list[str], text: str) -> list[str]:
    return [text[start:end] for _, start, end, _ in Phrases(phrases).find(text)]


@pytest.mark.parametrize(
    ("phrases", "text", "expected"),
    [
        (["cat"], "A cat, concatenated cats; cat-like cat", ["cat", "cat", "cat"]),
        (["hot dog", "dog", "hot dog stand"], "The hot dog stand: hot dogs, a dog, a hot  dog.", ["hot dog stand", "dog", "hot  dog"]),
        (["New York", "York City Hall"], "New York City Hall", ["York City Hall"]),
        (["C++", "C"], "C++ and C, not Cs", ["C++", "C"]),
        (["e-mail", "mail"], "e-mail, mail, e - mail", ["e-mail", "mail", "mail"]),
        (["fridge"], "Fridge? A Fridge. \u201cFridge!\u201d", ["Fridge", "Fridge"]),
        (["Apple"], "apple Apple", ["Apple"]),
        (["\u00fcber"], "\u00dcber uns", ["\u00dcber"]),
    ],
)
def test_terms_are_whole_words_and_the_longest_ones(phrases: list[str], text: str, expected: list[str]) -> None:
    assert found(phrases, text) == expected


@given(st.lists(Words.filter(lambda each: any(map(str.isalpha, each))), min_size=1, max_size=4), Words)
def test_occurrences_do_not_overlap_and_have_the_text_of_the_phrase(phrases: list[str], text: str) -> None:
    matches = Phrases([" ".join(each.split()) for each in phrases]).find(text)
    assert all(one[2] <= other[1] for one, other in pairwise(matches))
    for phrase, start, end, initial in matches:
        there = " ".join(text[start:end].split())
        assert there == phrase or (initial and there[0].lower() + there[1:] == phrase)


def test_protected_spans_have_no_terms() -> None:
    glossary = Glossary([Term("milk", "Milch"), Term("b", "x")])
    assert [match.start for match in glossary.find("milk@milk.org, <b>milk</b>")] == [18]


def test_two_terms_do_not_share_an_occurrence() -> None:
    terms = [Term("card", "Karte"), Term("card", "Karte"), Term("red card", "rote Karte"), Term("go", "los")]
    assert come_out(terms, "Los, eine rote Karte und eine Karte!") == [True, False, True, True]
    assert come_out([Term("a", "Haus")], "Haustür, haus") == [False]


def test_a_glossary_is_read(tmp_path: Path) -> None:
    path = tmp_path / "terms.tsv"
    path.write_bytes("\ufeff# terms\r\n\r\nfire wall\t Brand  mauer \na\tb\na\tb\n".encode())
    assert read_glossary(path) == [Term("fire wall", "Brand mauer"), Term("a", "b")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"a b\n", "line 1: 0 tabs"),
        (b"# x\na\tb\tc\n", "line 2: 2 tabs"),
        (b"a\t \n", "line 1: the target is empty"),
        (b"\tb\n", "line 1: the source is empty"),
        (b"a\tb\n\na\tc\n", "line 3: 'a' is 'b' in line 1, and 'c' here"),
        (b"a\tb\na\xff\tc\n", "line 2"),
    ],
)
def test_errors_name_file_and_line(text: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "terms.tsv"
    path.write_bytes(text)
    with pytest.raises(InputError) as error:
        read_glossary(path)
    assert str(path) in str(error.value) and message in str(error.value)


def test_kept_words_are_terms() -> None:
    assert with_kept([Term("a", "b")], ["New  York"]) == [Term("a", "b"), Term("New York", "New York")]
    for terms, kept in (([Term("a", "b")], "a"), ([], " ")):
        with pytest.raises(UsageError, match="kept"):
            with_kept(terms, [kept])
