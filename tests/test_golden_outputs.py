"""Golden outputs: what the shipped bundles make of lines and documents of many kinds, with memories and glossaries.

`UPDATE_GOLDEN=1 pytest tests/test_golden_outputs.py` writes the files in tests/golden/outputs anew.
"""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import docx
import pytest

from specdec_cli.documents.document import Document, Purpose, Source
from specdec_cli.documents.formats import format_of, read_document
from specdec_cli.engines.engine import SentenceDecoder
from specdec_cli.memories.memory import open_memory
from specdec_cli.model.bundle_info import Described
from specdec_cli.pipeline.corrector import Correction, LineCorrector
from specdec_cli.pipeline.drafts import DraftGate, Drafts
from specdec_cli.pipeline.translator import LineTranslator, Translation
from specdec_cli.text.edits import Edit
from specdec_cli.text.glossary import Glossary, read_glossaries
from specdec_cli.text.io.lines import Line, read_lines
from specdec_cli.text.segment.paragraphs import join_wrapped, rewrapped
from tests import stored_engine
from tests.stored_engine import opened

HERE = Path(__file__).parent
GOLDEN, DOCUMENTS, DATA, EXAMPLES = (
    HERE / "golden" / "outputs",
    HERE / "golden" / "documents",
    HERE / "data",
    HERE.parent / "docs" / "examples",
)
MEMORY = """The house is old.\tDas Haus ist alt.
The red house is very old.\tDas rote Haus ist sehr alt.
We meet at the station at noon.\tWir treffen uns mittags am Bahnhof.
<b>Good</b> morning, Tom!\t<b>Guten</b> Morgen, Tom!
"""
FROM_MEMORY = (
    "The house is old.",
    "The blue house is very old.",
    "We meet at the station at 5 PM. The house is old.",
    "<b>Good</b> morning, Tom!",
    "Nothing of this is known.",
)
TERMS = "device\tApparat\nuser interface\tBedienoberfläche\nbattery\tAkku\nThunderbird\tThunderbird\n"
WITH_TERMS = (
    "The device's battery is empty.",
    "The user interface of the device is simple.",
    "Open <b>the device</b> and take the battery out.",
    "THE DEVICE IS OLD",
    "Thunderbird has no device for {name}.",
)


@pytest.fixture(scope="module")
def english_german(pytestconfig: pytest.Config) -> tuple[Described, SentenceDecoder]:
    """The bundle en-de and its engine."""
    return opened("en-de", pytestconfig.cache)


@pytest.fixture
def translator(english_german: tuple[Described, SentenceDecoder]) -> LineTranslator:
    """A translator from English to German."""
    bundle, engine = english_german
    return LineTranslator.of_bundle(engine, bundle)


@pytest.fixture(scope="module")
def corrector(pytestconfig: pytest.Config) -> LineCorrector:
    """A corrector of English."""
    return stored_engine.corrector(pytestconfig.cache, types=True)


def compare(name: str, records: Iterable[dict[str, Any]]) -> None:
    """Compare records with the golden file `name`, or write it."""
    written = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    path = GOLDEN / name
    if "UPDATE_GOLDEN" in os.environ:
        path.write_text(written, encoding="utf-8")
    assert written.splitlines() == path.read_text(encoding="utf-8").splitlines()


def translations(sources: Sequence[str], found: Iterable[Translation]) -> Iterator[dict[str, Any]]:
    """A record for each translated line."""
    for source, line in zip(sources, found, strict=True):
        terms = {"terms": [[term.source, there] for term, there in line.terms]} if line.terms else {}
        draft = {"draft": [line.draft.origin, *line.draft.similarities, line.draft.copied]} if line.draft else {}
        warnings = {"warnings": line.warnings} if line.warnings else {}
        yield {"source": source, "text": line.text, "tokens": line.tokens, **warnings, **draft, **terms}


def corrections(found: Iterable[Correction]) -> Iterator[dict[str, Any]]:
    """A record for each corrected line."""
    for line in found:
        warnings = {"warnings": line.warnings} if line.warnings else {}
        yield {"text": line.text, "edits": list(map(described, line.edits)), "tokens": line.tokens, **warnings}


def described(edit: Edit) -> list[Any]:
    """The fields of an edit; its score is rounded."""
    return [edit.start, edit.end, edit.source, edit.text, None if edit.score is None else round(edit.score, 3), *edit.types]


def lines_of(*paths: Path) -> list[Line]:
    """The lines of text files, without guillemets that mark what must stay."""
    return [replace(line, text=line.text.translate(dict.fromkeys(map(ord, "\u00ab\u00bb\u2039\u203a")))) for line in read_lines(paths)]


def documents() -> Iterator[tuple[str, bytes]]:
    """The names and contents of documents of all formats."""
    yield from ((path.name, path.read_bytes()) for path in sorted([*DOCUMENTS.iterdir(), *EXAMPLES.glob("*.md")]))
    made = docx.Document()
    made.add_heading("My house", 0)
    paragraph = made.add_paragraph("The ")
    paragraph.add_run("red house").bold = True
    for text in (" is ver", "y old", " & it have a small garden. "):
        paragraph.add_run(text)
    broken = made.add_paragraph("One line")
    broken.add_run().add_break()
    broken.add_run("and another")
    made.add_table(1, 2).cell(0, 1).text = "A cat"
    made.sections[0].header.paragraphs[0].text = "The header of the page"
    stream = BytesIO()
    made.save(stream)
    yield "letter.docx", stream.getvalue()


def document_record(name: str, data: bytes, document: Document, output: bytes) -> dict[str, Any]:
    """A record for a document: the texts of its segments, and the output by lines; for Word the texts of the output."""
    texts = [segment.text for segment in document.segments]
    if name.endswith("docx"):
        return {"name": name, "segments": texts, "output": [segment.text for segment in parsed(name, output, "correct").segments]}
    assert (output == data) == (output.decode().splitlines() == data.decode().splitlines())
    return {"name": name, "segments": texts, "output": output.decode().splitlines()}


def parsed(name: str, data: bytes, purpose: Purpose) -> Document:
    """A document, read for a purpose."""
    return read_document(Source(data, name, purpose), format_of(Path(name)))


def test_translations_of_lines(translator: LineTranslator) -> None:
    sources = [line.text for line in lines_of(DATA / "mixed-lines.txt", DATA / "user-lines.txt", DATA / "demo.en")]
    compare("translated-lines.jsonl", translations(sources, translator.translate(sources)))


def test_translations_of_wrapped_text(translator: LineTranslator) -> None:
    lines = list(join_wrapped(lines_of(EXAMPLES / "letter.en", EXAMPLES / "essay.txt", DATA / "code-lines.txt")))
    found = translator.translate([line.text for line in lines])
    outputs = ({"source": line.text, "lines": list(rewrapped(line, each.text))} for line, each in zip(lines, found, strict=True))
    compare("translated-text.jsonl", outputs)


def test_translations_of_documents(translator: LineTranslator) -> None:
    records = []
    for name, data in documents():
        document = parsed(name, data, "translate")
        outputs = translator.translate([segment.text for segment in document.segments], separate=True)
        records.append(document_record(name, data, document, document.translated([each.text for each in outputs])))
    compare("translated-documents.jsonl", records)


def test_translations_with_a_memory(translator: LineTranslator, tmp_path: Path) -> None:
    memory = tmp_path / "memory.tsv"
    memory.write_text(MEMORY, encoding="utf-8")
    records = []
    for copies in (False, True):
        drafts = Drafts(open_memory(memory, "en", "de", 70), DraftGate.for_batches(32), copies)
        translator.use_drafts(drafts)
        records += list(translations(FROM_MEMORY, translator.translate(FROM_MEMORY)))
    compare("translated-with-memory.jsonl", records)


def test_translations_with_a_glossary(translator: LineTranslator, tmp_path: Path) -> None:
    path = tmp_path / "terms.tsv"
    path.write_text(TERMS, encoding="utf-8")
    translator.use_glossary(Glossary(read_glossaries([path])))
    compare("translated-with-glossary.jsonl", translations(WITH_TERMS, translator.translate(WITH_TERMS)))


def test_corrections_of_lines(corrector: LineCorrector) -> None:
    names = ("mixed-lines.txt", "user-lines.txt", "code-lines.txt", "demo.learner")
    sources = [line.text for line in lines_of(*(DATA / name for name in names), EXAMPLES / "essay.txt")]
    sources += [line.split("\t")[1] for line in (DATA / "learners.tsv").read_text(encoding="utf-8").splitlines()]
    compare("corrected-lines.jsonl", corrections(corrector.correct(sources)))


def test_corrections_of_documents(corrector: LineCorrector) -> None:
    records = []
    for name, data in documents():
        document = parsed(name, data, "correct")
        found = list(corrector.correct([segment.text for segment in document.segments], separate=True))
        records.append(document_record(name, data, document, document.corrected([each.edits for each in found])))
    compare("corrected-documents.jsonl", records)
