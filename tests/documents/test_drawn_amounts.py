"""Prices, times and numbers that are alone in a part of a document, drawn: documents and lines write them in the same way."""

import random
from collections.abc import Callable
from io import BytesIO

import docx
import pytest

from specdec_cli.documents.document import Purpose, Source
from specdec_cli.documents.formats import Format, read_document
from specdec_cli.pipeline.translator import LineTranslator
from tests import stored_engine
from tests.stored_engine import opened
from tests.tables import tables

TEXTS = tables(__file__)

DRAWN = 60


def english(draw: random.Random) -> tuple[str, str]:
    """A price, time or number in English, and in German."""
    whole, part, sign = draw.randrange(1, 99_000), f"{draw.randrange(100):02}", draw.choice("$€£")
    grouped = f"{whole:,}"
    hour, minute, half = draw.randrange(1, 13), draw.randrange(60), draw.choice("AP")
    hours = hour % 12 + 12 * (half == "P")
    return draw.choice(
        (
            (f"{sign}{grouped}.{part}", f"{grouped.replace(',', '.')},{part}\u00a0{sign}"),
            (f"{whole % 1000}.{part}", f"{whole % 1000},{part}"),
            (f"{whole + 1000:,}", f"{whole + 1000:,}".replace(",", ".")),
            (f"{hour}:{minute:02} {half}M", f"{hours}:{minute:02} Uhr"),
            (f"{whole % 100}.{part}%", f"{whole % 100},{part}\u00a0%"),
        )
    )


def german(draw: random.Random) -> tuple[str, str]:
    """A price, time or number in German, and in English."""
    whole, part, sign = draw.randrange(1, 99_000), f"{draw.randrange(100):02}", draw.choice("$€£")
    grouped = f"{whole:,}".replace(",", ".")
    hour, minute = draw.randrange(24), draw.randrange(60)
    return draw.choice(
        (
            (f"{grouped},{part} {sign}", f"{sign}{whole:,}.{part}"),
            (f"{whole % 1000},{part}", f"{whole % 1000}.{part}"),
            (f"{whole + 1000:,}".replace(",", "."), f"{whole + 1000:,}"),
            (f"{hour}:{minute:02} Uhr", f"{(hour - 1) % 12 + 1}:{minute:02} {'AP'[hour >= 12]}M"),
        )
    )


def word(text: str) -> bytes:
    """A document of Word with a table of one cell."""
    document, stream = docx.Document(), BytesIO()
    document.add_table(1, 1).cell(0, 0).text = text
    document.save(stream)
    return stream.getvalue()


FRAMES: tuple[tuple[Format, Callable[[str], bytes]], ...] = (
    ("html", lambda text: f"<table><tr><td>{text}</td></tr></table>".encode()),
    ("html", lambda text: f"<ul><li><b>{text}</b></ul>".encode()),
    ("html", lambda text: f"<h2>{text}</h2>".encode()),
    ("md", lambda text: f"| a |\n|---|\n| {text} |\n".encode()),
    ("md", lambda text: f"- **{text}**\n".encode()),
    ("md", lambda text: f"# {text}\n".encode()),
    ("po", lambda text: f'msgid ""\nmsgstr ""\n\nmsgid "{text}"\nmsgstr ""\n'.encode()),
    ("srt", lambda text: f"1\n00:00:01,000 --> 00:00:02,000\n{text}\n".encode()),
    ("docx", word),
    (
        "xliff",
        lambda text: (
            '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file original="a" datatype="plaintext"'
            f' source-language="en"><body><trans-unit id="1"><source>{text}</source></trans-unit></body></file></xliff>'
        ).encode(),
    ),
)


def segments(data: bytes, format: Format, purpose: Purpose = "translate") -> list[str]:
    """The texts of the segments of a document."""
    return [each.text for each in read_document(Source(data, f"a.{format}", purpose), format).segments]


@pytest.mark.parametrize("seed", [31, 32])
@pytest.mark.parametrize(("bundle", "drawing"), [("en-de", english), ("de-en", german)])
def test_documents_and_lines_write_what_is_alone_as_the_target_does(
    bundle: str, drawing: Callable[[random.Random], tuple[str, str]], seed: int, pytestconfig: pytest.Config
) -> None:
    described, engine = opened(bundle, pytestconfig.cache)
    source, target = bundle.split("-")
    translator = LineTranslator(engine, described.tokenizer, languages=(source, target))
    draw = random.Random(seed)
    for number in range(DRAWN):
        amount, expected = drawing(draw)
        format, frame = FRAMES[number % len(FRAMES)]
        assert amount in segments(frame(amount), format)
        assert [each.text for each in translator.translate([amount], separate=True)] == [expected]
        line = TEXTS.lines[number % len(TEXTS.lines)]
        made = [each.text for each in translator.translate([line.replace("{}", amount)])]
        assert made == [line.replace("{}", expected)]


@pytest.mark.parametrize("text", ["1.5.2", "v2.0", "+1 555 123 4567", "555-0123", "2024", "17", "192.168.0.1", "2024-05-01", "5"])
def test_versions_and_the_like_are_no_segments(text: str) -> None:
    assert segments(f"| a |\n|---|\n| {text} |\n".encode(), "md") == ["a"]


@pytest.mark.parametrize("row", ["Tea,3.50,blue", "Tea;1.5.2;blue", "Tea\t+1 555 123 4567", "Tea|v1.5|1.5.2|blue"])
def test_values_that_programs_read_stay(row: str, pytestconfig: pytest.Config) -> None:
    described, engine = opened("en-de", pytestconfig.cache)
    translator = LineTranslator(engine, described.tokenizer, languages=("en", "de"))
    value = row.replace(";", ",").replace("\t", ",").replace("|", ",").split(",")[1]
    assert [value in each.text for each in translator.translate([row])] == [True]


def test_correction_changes_none(pytestconfig: pytest.Config) -> None:
    corrector, draw = stored_engine.corrector(pytestconfig.cache), random.Random(33)
    amounts = [drawing(draw)[0] for drawing in (english, german) for _ in range(DRAWN)]
    lines = [line.replace("{}", amount) for amount in amounts for line in ("{}", "| {} |")]
    assert [each.text for each in corrector.correct(lines)] == lines
    assert [each.text for each in corrector.correct(amounts, separate=True)] == amounts
