"""`specdec correct` for sentences with comments, marks of notes and non-breaking spaces, with the shipped model."""

from io import BytesIO
from pathlib import Path

import docx
import pytest
from docx.oxml import OxmlElement
from typer.testing import CliRunner

from specdec_cli.app import app
from tests.command_line import done


@pytest.mark.parametrize(
    ("format", "before", "after"),
    [
        ("html", "<p>He&nbsp;have no tea.</p>\n", "<p>He&nbsp;has no tea.</p>\n"),
        ("html", "<p>He <!-- n -->have no tea.</p>\n", "<p>He <!-- n -->has no tea.</p>\n"),
        ("html", "<p>We has a big<wbr>time problem.</p>\n", "<p>We have a big<wbr>time problem.</p>\n"),
        ("md", "He <!-- n -->have no tea.[^1]\n\n[^1]: A note\n", "He <!-- n -->has no tea.[^1]\n\n[^1]: A note\n"),
    ],
)
def test_errors_beside_items_are_corrected(format: str, before: str, after: str) -> None:
    result = CliRunner().invoke(app, ["correct", "--format", format, "--threads", "1"], input=before)
    assert (result.exit_code, result.stdout) == (0, after)


def test_an_error_beside_the_mark_of_a_comment_is_corrected_in_a_word_document(tmp_path: Path) -> None:
    made = docx.Document()
    paragraph = made.add_paragraph("He have")
    paragraph.add_run()._r.append(OxmlElement("w:commentReference"))
    paragraph.add_run(" no tea.")
    made.save(str(tmp_path / "a.docx"))
    done(CliRunner().invoke(app, ["correct", "--output", str(tmp_path / "b.docx"), "--threads", "1", str(tmp_path / "a.docx")]))
    changed = docx.Document(BytesIO((tmp_path / "b.docx").read_bytes())).paragraphs[0]
    assert changed.text == "He has no tea."
    assert changed._p.xpath(".//w:commentReference")
