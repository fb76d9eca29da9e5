"""Text that a document marks with another language than its own stays: runs of Word and PowerPoint, and cues of WebVTT."""

import random
from io import BytesIO

import docx
import pytest
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.text.run import Run

from specdec_cli.documents.document import Document, Source
from specdec_cli.documents.formats import Format, read_document
from tests.documents.helper import shout, texts

ENGLISH = ("The house is old. ", "He said ", "and went home. ", "to me ", "We are here. ", "for her brother. ")
FOREIGN = {"de-DE": ("Guten Morgen ", "Auf Wiedersehen "), "fr": ("Bonjour ", "à la maison "), "la": ("carpe diem ",)}
Marked = tuple[str, str]
"""A text and its language."""


def read(data: bytes, format: Format) -> Document:
    return read_document(Source(data, f"a.{format}", language="eng_Latn"), format)


def drawn(draw: random.Random, count: int) -> list[Marked]:
    """Texts of English, and a few in other languages between them."""
    found: list[Marked] = []
    for _ in range(count):
        if draw.random() < 0.25:
            code = draw.choice([*FOREIGN])
            found.append((draw.choice(FOREIGN[code]), code))
        found += [(draw.choice(ENGLISH), draw.choice(["", "en-US", "en-GB"])) for _ in range(2)]
    return found


def mark(run: Run, language: str) -> None:
    """Write the language of a run of Word."""
    element = OxmlElement("w:lang")
    element.set(qn("w:val"), language)
    run._element.get_or_add_rPr().append(element)


def word(paragraphs: list[list[Marked]]) -> bytes:
    """A document of Word."""
    made = docx.Document()
    for runs in paragraphs:
        paragraph = made.add_paragraph()
        for text, language in runs:
            run = paragraph.add_run(text)
            if language:
                mark(run, language)
    stream = BytesIO()
    made.save(stream)
    return stream.getvalue()


def runs_of(data: bytes) -> list[list[str]]:
    return [[run.text for run in paragraph.runs] for paragraph in docx.Document(BytesIO(data)).paragraphs]


@pytest.mark.parametrize("seed", range(3))
def test_drawn_runs_in_other_languages_stay(seed: int) -> None:
    draw = random.Random(f"word {seed}")
    for _ in range(20):
        paragraphs = [drawn(draw, draw.randint(1, 3)) for _ in range(3)]
        document = read(word(paragraphs), "docx")
        changed = runs_of(document.translated([shout(each) for each in texts(document)]))
        for runs, found in zip(paragraphs, changed, strict=True):
            foreign = [text for text, language in runs if language in FOREIGN]
            assert "".join(found) == "".join(text if language in FOREIGN else text.upper() for text, language in runs)
            assert [text for text in found if text in foreign] == foreign


def test_a_sentence_has_a_mark_in_the_place_of_a_run_in_another_language() -> None:
    data = word(
        [[("He said ", ""), ("Guten Morgen", "de-DE"), (" to me.", "en-GB")], [("Auf Wiedersehen.", "de-DE")]] + [[("A cat.", "")]] * 3
    )
    assert texts(read(data, "docx")) == ["He said <x1/> to me.", *["A cat."] * 3]


@pytest.mark.parametrize("language", ["", "x-none"])
def test_text_without_a_language_is_translated(language: str) -> None:
    assert texts(read(word([[("I am here.", language)]]), "docx")) == ["I am here."]


def test_a_document_that_is_mostly_marked_with_another_language_is_translated() -> None:
    data = word([[("I have written all of this with another keyboard.", "de-DE")], [("A word.", "en-US")]])
    assert texts(read(data, "docx")) == ["I have written all of this with another keyboard.", "A word."]


def test_marks_of_languages_do_not_count_if_that_of_the_text_is_not_known() -> None:
    data = word([[("Guten Morgen.", "de-DE")], [("I am here today.", "")]])
    assert texts(read_document(Source(data, "a.docx"), "docx")) == ["Guten Morgen.", "I am here today."]


@pytest.mark.parametrize("seed", range(3))
def test_drawn_cues_in_other_languages_stay(seed: int) -> None:
    draw = random.Random(f"cues {seed}")
    for _ in range(20):
        cues, expected = list[str](), list[str]()
        for number in range(draw.randint(1, 5)):
            begin = f"\n\n00:00:{10 * number:02}.000 --> 00:00:{10 * number + 4:02}.000\n"
            parts = [(text.strip(), language) for text, language in drawn(draw, 1)]
            written = [f"<lang {language}>{text}</lang>" if language in FOREIGN else text for text, language in parts]
            changed = [each if language in FOREIGN else text.upper() for each, (text, language) in zip(written, parts, strict=True)]
            cues.append(begin + " ".join(written))
            expected.append(begin + " ".join(changed))
        document = read(f"WEBVTT{''.join(cues)}\n".encode(), "vtt")
        found = document.translated([shout(each) for each in texts(document)]).decode()
        assert " ".join(found.split()) == " ".join(f"WEBVTT{''.join(expected)}\n".split())


@pytest.mark.parametrize(
    ("cue", "expected"),
    [
        ("<lang de>Guten Morgen.</lang>", []),
        ("<lang en>Good morning.</lang>", ["Good morning."]),
        ("He said <lang de>Guten\nMorgen</lang> to me.", ["He said <x1/> to me."]),
        ("<b><lang fr>Bonjour.</lang></b>", []),
    ],
)
def test_text_of_a_cue_in_another_language_stays(cue: str, expected: list[str]) -> None:
    assert texts(read(f"WEBVTT\n\n00:01.000 --> 00:02.000\n{cue}\n".encode(), "vtt")) == expected
