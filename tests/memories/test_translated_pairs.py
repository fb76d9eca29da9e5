"""The texts of an earlier version and their translations, out of documents of each format."""

from pathlib import Path

import pytest

from specdec_cli.documents.formats import Format
from specdec_cli.errors import InputError
from specdec_cli.memories.pairs import Entry
from specdec_cli.memories.translated_pairs import translated_pairs
from tests.tables import sample

MARKDOWN = "# The rain\n\nIt *rains* here. It is\nwet.\n\n- one `x` thing\n- another thing\n"
GERMAN = "# Der Regen\n\nEs *regnet* hier. Es ist nass.\n\n- ein `x` Ding\n- noch ein Ding\n"
SUBTITLES = "1\n00:00:01,000 --> 00:00:02,000\n{}\n\n2\n00:00:03,000 --> 00:00:04,000\n{}\n"
CATALOGUE = sample("translated.po")
UNITS = """<xliff version="1.2"><file><body>
<trans-unit id="1"><source>the <g id="a">rain</g></source><target>der <g id="a">Regen</g></target></trans-unit>
<trans-unit id="2"><source>snow</source></trans-unit>
<trans-unit id="3"><source>wind</source><target state="new">wind</target></trans-unit>
</body></file></xliff>"""


def pairs(tmp_path: Path, format: Format, source: str, target: str) -> list[Entry]:
    files = tmp_path / f"old.{format}", tmp_path / f"old.de.{format}"
    for path, text in zip(files, (source, target), strict=True):
        path.write_text(text, encoding="utf-8")
    return translated_pairs(*files, format)


def test_texts_at_the_same_place_belong_together(tmp_path: Path) -> None:
    assert pairs(tmp_path, "md", MARKDOWN, GERMAN) == [
        Entry("The rain", "Der Regen"),
        Entry("It <g1>rains</g1> here. It is wet.", "Es <g1>regnet</g1> hier. Es ist nass."),
        Entry("one `x` thing", "ein `x` Ding"),
        Entry("another thing", "noch ein Ding"),
    ]
    assert pairs(tmp_path, "srt", SUBTITLES.format("Hello.", "Bye!"), SUBTITLES.format("Hallo.", "Tsch\u00fcss!")) == [
        Entry("Hello.", "Hallo."),
        Entry("Bye!", "Tsch\u00fcss!"),
    ]
    assert pairs(tmp_path, "html", "<p>Rain</p><p>Snow</p>", "<p>Regen</p><p>Schnee</p>") == [
        Entry("Rain", "Regen"),
        Entry("Snow", "Schnee"),
    ]


def test_markup_that_may_be_moved_makes_a_guess(tmp_path: Path) -> None:
    (pair,) = pairs(tmp_path, "md", "*one* and **two**\n", "**zwei** und *eins*\n")
    (other,) = pairs(tmp_path, "md", "*one* and two\n", "eins und zwei\n")
    assert pair.guessed and other.guessed


def test_documents_with_other_numbers_of_texts_are_aligned(tmp_path: Path) -> None:
    found = pairs(tmp_path, "md", MARKDOWN, GERMAN.replace("- ein `x` Ding\n", ""))
    expected = Entry("The rain", "Der Regen", guessed=True), Entry("another thing", "noch ein Ding", guessed=True)
    assert all(each in found for each in expected) and len(found) == 3


def test_catalogues_have_both_texts(tmp_path: Path) -> None:
    assert pairs(tmp_path, "po", "", CATALOGUE) == [
        Entry("Open", "\u00d6ffnen"),
        Entry("one file", "eine Datei"),
        Entry("{} files", "{} Dateien"),
    ]
    assert pairs(tmp_path, "xliff", "", UNITS) == [Entry("the <g1>rain</g1>", "der <g1>Regen</g1>")]


def test_documents_out_of_proportion_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"old.de.md: 3 texts, but .*old.md has 30. One seems not .* two files of the same version"):
        pairs(tmp_path, "md", "Rain.\n\n" * 30, "Regen.\n\n" * 3)
    assert len(pairs(tmp_path, "md", "Rain.\n\n" * 8, "Regen.\n\n" * 2)) == 2


def test_a_document_without_texts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"old.de.md: 0 texts, but .*old.md has 1"):
        pairs(tmp_path, "md", "Rain.\n", "")
    assert pairs(tmp_path, "md", "", "") == []
