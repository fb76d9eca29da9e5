"""Formats of translation memories, and the sentences that are taken out of their entries."""

import gzip
import lzma
from pathlib import Path

import pytest

from specdec_cli.documents import reading
from specdec_cli.errors import InputError
from specdec_cli.memories.pairs import LONGEST, Entry, sentence_pairs
from specdec_cli.memories.readers import read_po, read_tmx
from specdec_cli.text.corpus.parallel import Pair
from tests.tables import sample

TMX = sample("memory.tmx")

PO = sample("memory.po")


@pytest.mark.parametrize("compressed", [False, True])
def test_units_of_two_languages_are_read_without_markup_and_entities(compressed: bool, tmp_path: Path) -> None:
    path = tmp_path / ("memory.tmx.gz" if compressed else "memory.tmx")
    path.write_bytes(gzip.compress(TMX.encode()) if compressed else TMX.encode())
    assert list(read_tmx(path, "en", "de")) == [Pair("Press OK now.", "Drücken Sie jetzt OK."), Pair("Two.", "Zwei.")]
    assert list(read_tmx(path, "fr", "en")) == [Pair("Deux.", "Two."), Pair("Trois.", "No German.")]


def tmx(*segments: tuple[str, str], namespace: str = "") -> str:
    """A memory of one unit with these languages and segments."""
    variants = "".join(f'<tuv xml:lang="{language}"><seg>{text}</seg></tuv>' for language, text in segments)
    return f"<tmx{namespace}><header/><body><tu>{variants}</tu></body></tmx>"


def read(content: str, source: str, target: str, folder: Path) -> list[Pair]:
    """The pairs that are read from a memory with this content."""
    (folder / "memory.tmx").write_text(content, encoding="utf-8")
    return list(read_tmx(folder / "memory.tmx", source, target))


def test_namespaces_are_ignored(tmp_path: Path) -> None:
    content = tmx(("en", "The <ph/>cat."), ("de", "Die Katze."), namespace=' xmlns="http://www.lisa.org/tmx14"')
    assert read(content, "en", "de", tmp_path) == [Pair("The cat.", "Die Katze.")]


def test_languages_are_compared_in_any_form_of_their_codes(tmp_path: Path) -> None:
    assert read(tmx(("en-GB", "Cat"), ("ru", "Кот")), "eng_Latn", "rus_Cyrl", tmp_path) == [Pair("Cat", "Кот")]


def test_pairs_within_one_language_are_its_first_two_segments(tmp_path: Path) -> None:
    content = tmx(("de", "Fehler"), ("en", "An eror."), ("en-GB", "An error."), ("en", "Error."))
    assert read(content, "en", "en", tmp_path) == [Pair("An eror.", "An error.")]
    assert read(tmx(("en", "One."), ("de", "Eins.")), "en", "en", tmp_path) == []


@pytest.mark.parametrize(
    ("segment", "text"),
    [
        ('The<br/>cat<x id="1"/><ph>&lt;br&gt;</ph>sits', "The cat sits"),
        ("The <x/>cat<ph>.</ph>, it<x/> sits<x/>", "The cat, it sits"),
        ("un<hi>believ</hi>able", "unbelievable"),
        ("按<ph>x</ph>下", "按下"),
    ],
)
def test_codes_between_letters_leave_a_space(segment: str, text: str, tmp_path: Path) -> None:
    assert read(tmx(("en", segment), ("de", "x")), "en", "de", tmp_path) == [Pair(text, "x")]


def test_without_languages_the_first_two_segments_are_taken(tmp_path: Path) -> None:
    path = tmp_path / "memory.tmx"
    path.write_text(TMX, encoding="utf-8")
    assert [pair.source for pair in read_tmx(path, "", "")] == ["Press OK now.", "Zwei.", "No German."]


def test_messages_that_are_translated_are_read(tmp_path: Path) -> None:
    path = tmp_path / "de.po"
    path.write_text(PO, encoding="utf-8")
    assert [(pair.source, pair.target) for pair in read_po(path)] == [
        ("Open file", "Datei auf"),
        ("Open %d files", "%d Dateien auf"),
        ("first line", "erste Zeile"),
        ("second line", "zweite Zeile"),
    ]


def catalogue(folder: Path, header: str, content: bytes = b'msgid "door"\nmsgstr "T\xfcr"\n', name: str = "a.po") -> Path:
    """A file of a catalogue with the line `header` in its header."""
    path, whole = folder / name, f'msgid ""\nmsgstr "{header}\\n"\n\n'.encode() + content
    path.write_bytes(lzma.compress(whole) if name.endswith(".xz") else whole)
    return path


@pytest.mark.parametrize(
    ("header", "read"), [("de_AT", True), ("deu", True), ("", True), ("German", True), ("fr", False), ("pt_BR", False)]
)
def test_catalogues_in_another_language_are_not_read(header: str, read: bool, tmp_path: Path) -> None:
    path = catalogue(tmp_path, f"Language: {header}", 'msgid "door"\nmsgstr "Tür"\n'.encode())
    assert list(read_po(path, "en", "de")) == ([Pair("door", "Tür")] if read else [])
    assert list(read_po(path)) == [Pair("door", "Tür")]


@pytest.mark.parametrize("name", ["a.po", "a.po.xz"])
def test_catalogues_are_decoded_by_their_character_set(name: str, tmp_path: Path) -> None:
    assert list(read_po(catalogue(tmp_path, "Content-Type: text/plain; charset=ISO-8859-1", name=name))) == [Pair("door", "Tür")]
    with pytest.raises(InputError, match=r"a\.po.*, line 5: not valid euc_jp"):
        list(read_po(catalogue(tmp_path, "Content-Type: text/plain; charset=EUC-JP", name=name)))
    unknown = catalogue(tmp_path, "Content-Type: text/plain; charset=CHARSET", 'msgid "d\u2028r"\nmsgstr "Tür"\n'.encode(), name)
    assert list(read_po(unknown)) == [Pair("d r", "Tür")]


def test_the_line_of_a_wrong_byte_is_counted_from_the_start_of_the_file(tmp_path: Path) -> None:
    lines = b"# comment\n" * 10_000
    with pytest.raises(InputError, match="line 10004: not valid UTF-8"):
        list(read_po(catalogue(tmp_path, "Language: de", lines + b'msgid "caf\xe9"\n')))


def test_large_catalogues_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_BYTES", 2**20)
    with pytest.raises(InputError, match="a document of more than 1 MiB"):
        list(read_po(catalogue(tmp_path, "Language: de", b"# comment\n" * 110_000, "a.po.xz")))


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        (Pair(" One. ", "Eins."), [Entry("One.", "Eins.")]),
        (
            Pair("One. Two.", "Eins. Zwei."),
            [Entry("One.", "Eins.", guessed=True), Entry("Two.", "Zwei.", guessed=True), Entry("One. Two.", "Eins. Zwei.")],
        ),
        (Pair("One. Two.", "Eins und zwei."), [Entry("One. Two.", "Eins und zwei.")]),
        (Pair("- One.", "- Eins."), [Entry("One.", "Eins.")]),
        (Pair("- One.", "Eins."), [Entry("- One.", "Eins.")]),
        (Pair("One.", " "), []),
        (Pair("x" * (LONGEST + 1), "One."), []),
    ],
)
def test_sentences_are_taken_out_of_entries(pair: Pair, expected: list[Entry]) -> None:
    assert list(sentence_pairs([pair])) == expected
    assert list(sentence_pairs([pair], whole=False)) == (expected[:-1] if len(expected) > 1 else expected)
    assert list(sentence_pairs([pair], split=False)) == expected[-1:]
