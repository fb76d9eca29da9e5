"""Terms of glossaries: where they occur in a text, which come out, and files that are refused."""

from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.decoding.sentence import Hypothesis
from specdec_cli.errors import InputError, UsageError
from specdec_cli.pipeline.term_judging import is_spoilt, mean_around, misfits
from specdec_cli.pipeline.term_placing import readings
from specdec_cli.text.glossary import Glossary, Phrases, Term, begins_sentence, come_out, read_glossaries, with_kept
from tests.tables import tables

CASES = tables(__file__)

Words = st.text(st.sampled_from("aB .-'"), max_size=12)


def found(phrases: list[str], text: str) -> list[str]:
    return [text[start:end] for _, start, end in Phrases(phrases).find(text)]


@pytest.mark.parametrize(("phrases", "text", "expected"), CASES.terms_are_whole_words_and_the_longest_ones)
def test_terms_are_whole_words_and_the_longest_ones(phrases: list[str], text: str, expected: list[str]) -> None:
    assert found(phrases, text) == expected


@given(st.lists(Words.filter(lambda each: any(map(str.isalpha, each))), min_size=1, max_size=4), Words)
def test_occurrences_do_not_overlap_and_have_the_text_of_the_phrase(phrases: list[str], text: str) -> None:
    matches = Phrases([" ".join(each.split()) for each in phrases]).find(text)
    assert all(one[2] <= other[1] for one, other in pairwise(matches))
    for phrase, start, end in matches:
        there = " ".join(text[start:end].split())
        assert there == phrase or (begins_sentence(text, start) and there[0].lower() + there[1:] == phrase)


def test_protected_spans_have_no_terms() -> None:
    glossary = Glossary([Term("milk", "Milch"), Term("b", "x")])
    assert [match.start for match in glossary.find("milk@milk.org, <b>milk</b>")] == [18]


def test_two_terms_do_not_share_an_occurrence() -> None:
    terms = [Term("card", "Karte"), Term("card", "Karte"), Term("red card", "rote Karte"), Term("go", "los")]
    assert come_out(terms, "Los, eine rote Karte und eine Karte!") == [True, False, True, True]
    assert come_out([Term("a", "Haus")], "Haustür, haus") == [False]


@pytest.mark.parametrize(("output", "spoilt"), CASES.faults_of_outputs_with_terms)
def test_faults_of_outputs_with_terms(output: str, spoilt: bool) -> None:
    source = "The cat came by bus."
    matches = Glossary([Term("cat", "Mieze"), Term("bus", "Katze.")]).find(source)
    assert is_spoilt(source, "Die Katze kam mit dem Bus.", output, matches) == spoilt


@pytest.mark.parametrize(
    ("source", "output", "spoilt"), [("House!", "Haus Bude", True), ("House!", "Bude!", False), ("A house", "Die Bude", False)]
)
def test_terms_alone_have_nothing_beside_their_targets(source: str, output: str, spoilt: bool) -> None:
    assert is_spoilt(source, "Haus", output, Glossary([Term("house", "Bude")]).find(source)) == spoilt


def test_tokens_of_targets_do_not_count() -> None:
    hypothesis = Hypothesis(0, [0, 1, 2, 3], 1, -23.0, log_probabilities=(-1.0, -9.0, -10.0, -3.0))
    tokenizer: Any = SimpleNamespace(decode=lambda _: "Die Mieze kam", ends=lambda _: [4, 7, 10, 13])
    assert mean_around(hypothesis, [Term("cat", "Mieze")], tokenizer) == -2.0


def test_only_german_nouns_are_no_words_in_small_letters() -> None:
    tokenizer: Any = SimpleNamespace(decode=lambda _: "Die Mieze kam", ends=lambda _: [4, 9, 10, 13])
    places = [[place for place, _ in misfits([0, 1, 2, 3], [Term("cat", "Mieze")], tokenizer, german=german)] for german in (True, False)]
    assert places == [[1, 2], [2]]


def test_outputs_without_each_placeholder_are_refused() -> None:
    source = "The cat sees the dog."
    crosses = list(readings(source, Glossary([Term("cat", "Mieze"), Term("dog", "Hd.")]).find(source)))[1]
    assert crosses.text == "The X1 sees the X2."
    assert crosses.restored("Die X1 sieht den X2.") == "Die Mieze sieht den Hd."
    assert crosses.restored("X2 sieht die X1. X2?") is None
    for output in ("Die X1 sieht den Hund.", "Die X1 sieht den X.", "Die X1 sieht den X22.", "Die X1 sieht den X1."):
        assert crosses.restored(output) is None


def test_a_glossary_is_read(tmp_path: Path) -> None:
    path = tmp_path / "terms.tsv"
    path.write_bytes("\ufeff# terms\r\n\r\nfire wall\t Brand  mauer \na\tb\na\tb\nC#\tC# 12 # new\n".encode())
    assert read_glossaries([path]) == [Term("fire wall", "Brand mauer"), Term("a", "b"), Term("C#", "C# 12 # new")]


def test_several_glossaries_are_read(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("one", "two", "three")]
    for path, text in zip(paths, ("a\tb\n", "a\tb\nc\td\n", "c\te\n"), strict=True):
        path.write_text(text)
    assert read_glossaries(paths[:2]) == [Term("a", "b"), Term("c", "d")]
    with pytest.raises(InputError, match=r"three, line 1: 'c' is 'd' in .*two, line 2, and 'e' here"):
        read_glossaries(paths)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"a b\n", "line 1: 0 tabs"),
        (b"# x\na\tb\tc\n", "line 2: 2 tabs"),
        (b"a\t \n", "line 1: the target is empty"),
        (b"\tb\n", "line 1: the source is empty"),
        (b"a\tb\n\na\tc\n", "line 1, and 'c' here"),
        (b"a\tb\na\xff\tc\n", "line 2"),
    ],
)
def test_errors_name_file_and_line(text: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "terms.tsv"
    path.write_bytes(text)
    with pytest.raises(InputError) as error:
        read_glossaries([path])
    assert str(path) in str(error.value) and message in str(error.value)


def test_kept_words_are_terms() -> None:
    assert with_kept([Term("a", "b")], ["New  York"]) == [Term("a", "b"), Term("New York", "New York")]
    for terms, kept in (([Term("a", "b")], "a"), ([], " "), ([], "a\tb"), ([], "a\nb")):
        with pytest.raises(UsageError, match="kept"):
            with_kept(terms, [kept])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a\tb\nc\t" + "d" * 501 + "\n", "line 2: a term of 501 characters; the longest may have 500"),
        ("a" * 100_000 + "\tb\n", "line 1: a term of 100000 characters; the longest may have 500"),
        ("a\tb\nc\td\0\n", "line 2: holds a NUL byte"),
    ],
)
def test_terms_that_cannot_be_are_refused(content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "terms").write_text(content)
    with pytest.raises(InputError, match=message):
        read_glossaries([tmp_path / "terms"])
