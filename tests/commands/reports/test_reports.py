"""Reports of findings: valid, with columns as their readers count them, and with changes that make the edits."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.console.corrections import REPORTS, Finding, ReportFormat, open_report, written_around
from specdec_cli.console.input_output import inputs_of
from specdec_cli.documents.document import FileEdit, Point, byte_column, column, utf16_column
from specdec_cli.documents.wrapped import edited_lines
from specdec_cli.error_types.annotation import with_types
from specdec_cli.errors import InputError
from specdec_cli.text.edits import apply_edits, find_edits
from specdec_cli.text.io.lines import Line, read_lines
from specdec_cli.text.io.writing import LineWriter, output_line
from specdec_cli.text.segment.paragraphs import Paragraph, join_paragraphs
from tests.commands.reports.contracts import RDJSON, SARIF

OLD, NEW = "\ufeffShe like \U0001f600 caf\u00e9, and he have a dog\n", "\ufeffShe likes \U0001f600 caf\u00e9, and he has a dog."


class Lines:
    """A writer of lines to a string."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str, ending: str = "\n", source: Path | None = None) -> None:  # noqa: ARG002
        """Add a line."""
        self.text += output_line(text, ending)


def findings(line: Line, new: str) -> list[Finding]:
    """The findings that turn a line into `new`."""
    return [Finding.of(line, edit) for edit in with_types(line.text, find_edits(line.text, new))]


def report(format: ReportFormat, found: list[Finding]) -> str:
    """The text of a report."""
    made, lines = open_report(format), Lines()
    with written_around(made, lines):
        for finding in found:
            for text, ending in made.finding(finding):
                lines.write(text, ending)
    return lines.text


@pytest.fixture
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Finding]:
    monkeypatch.chdir(tmp_path)
    Path("a b,1%.txt").write_text(OLD)
    (line,) = read_lines([tmp_path / "a b,1%.txt"])
    return findings(line, NEW)


def test_columns_are_counted_as_each_reader_does(found: list[Finding]) -> None:
    starts = [finding.change.start for finding in found]
    assert [column(start) for start in starts] == [5, 25, 35]
    assert [byte_column(start) for start in starts] == [5, 29, 39]
    assert [utf16_column(start) for start in starts] == [5, 26, 36]
    lines = report("text", found).splitlines()
    assert lines[1].endswith(
        "a b,1%.txt:1:25: the verb does not agree with its subject: use \u201chas\u201d instead of \u201chave\u201d [R:VERB:SVA]"
    )
    assert report("gnu", found).splitlines()[1].partition(".txt")[2].startswith(":1:29: warning: the verb does")


def test_rdjsonl_is_valid_and_has_suggestions(found: list[Finding]) -> None:
    records = [json.loads(line) for line in report("rdjsonl", found).splitlines()]
    for each in records:
        jsonschema.validate(each, RDJSON)
    assert [each["location"]["path"] for each in records] == ["a b,1%.txt"] * 3
    assert records[1]["suggestions"] == [{"range": {"start": {"line": 1, "column": 29}, "end": {"line": 1, "column": 33}}, "text": "has"}]
    assert records[2]["suggestions"][0]["range"]["start"] == records[2]["suggestions"][0]["range"]["end"]  # an insertion


def test_sarif_is_valid_and_names_its_rules(found: list[Finding]) -> None:
    log = json.loads(report("sarif", found))
    jsonschema.validate(log, SARIF)
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert rules == list(dict.fromkeys(each["ruleId"] for each in run["results"])) == ["R:VERB:SVA", "M:PUNCT"]
    assert run["columnKind"] == "utf16CodeUnits"
    place = run["results"][1]["locations"][0]["physicalLocation"]
    assert place == {
        "artifactLocation": {"uri": "a%20b%2C1%25.txt"},
        "region": {"startLine": 1, "startColumn": 26, "endLine": 1, "endColumn": 30},
    }


def test_github_commands_are_escaped(found: list[Finding]) -> None:
    line = report("github", found).splitlines()[1]
    assert line.startswith(
        "::warning file=a b%2C1%25.txt,line=1,endLine=1,col=25,endColumn=29,title=R%3AVERB%3ASVA::the verb does not agree"
    )
    (edit,) = with_types("50 % of it", find_edits("50 % of it", "50 %% of it"))
    place = Point(1, "50 %")
    assert "\u201c%25\u201d" in report("github", [Finding(None, edit, FileEdit(place, place, "%"))])


@pytest.mark.parametrize("format", ["json", "sarif"])
def test_documents_are_complete_without_findings_and_after_errors(format: ReportFormat, found: list[Finding]) -> None:
    empty = json.loads(report(format, []))
    assert (empty if format == "json" else empty["runs"][0]["results"]) == []
    made, lines = open_report(format), Lines()
    with pytest.raises(InputError), written_around(made, lines):
        for text, ending in made.finding(found[0]):
            lines.write(text, ending)
        raise InputError("the rest is not UTF-8")
    log = json.loads(lines.text)
    if format == "sarif":
        assert log["runs"][0]["invocations"] == [{"executionSuccessful": False}]
    else:
        assert [each["type"] for each in log] == ["R:VERB:SVA"]


def test_documents_have_places_of_their_own_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text("<p>\nShe like &eacute;clairs,\nand he <b>have</b> one.\n")
    (found,) = inputs_of([path], None)
    (line,) = found.segment_lines(found.open_document("correct"), 1000)
    new = line.text.replace("like", "likes").replace("have", "has")
    assert [(each.change.start.line, column(each.change.start)) for each in findings(line, new)] == [(2, 5), (3, 11)]
    assert applied(path.read_text(), findings(line, new)) == path.read_text().replace("like", "likes").replace("have", "has")


@pytest.mark.parametrize("format", REPORTS)
def test_what_has_no_lines_gets_no_change(format: ReportFormat) -> None:
    edit = with_types("he have", find_edits("he have", "he has"))[0]
    text = report(format, [Finding(Path("a.docx"), edit, FileEdit(Point(7, "he "), Point(7, "he have"), None))])
    assert "a.docx" in text and not any(word in text for word in ("suggestions", "fixes", "region", "line=7"))


def test_compressed_files_get_no_change() -> None:
    (found,) = findings(Line(2, "he have", "\n", "a.txt.gz", Path("a.txt.gz")), "he has")
    assert report("text", [found]).startswith("a.txt.gz:2:4: the verb")
    (result,) = json.loads(report("sarif", [found]))["runs"][0]["results"]
    assert "fixes" not in result and list(result["locations"][0]["physicalLocation"]) == ["artifactLocation"]
    assert "suggestions" not in report("rdjsonl", [found])


@pytest.mark.parametrize(
    ("format", "name"),
    [
        ("text", b"b\xff,.txt:1:4:"),
        ("gnu", b"b\xff,.txt:1:4:"),
        ("github", b"file=b\xff%2C.txt,"),
        ("sarif", b'"uri": "b%FF%2C.txt"'),
        ("rdjsonl", b'"path": "b\\udcff,.txt"'),
        ("json", b'"file": "b\\udcff,.txt"'),
    ],
)
def test_names_of_files_need_not_be_utf_8(format: ReportFormat, name: bytes, tmp_path: Path) -> None:
    file = Path(os.fsdecode(b"b\xff,.txt"))
    with LineWriter(tmp_path / "report") as writer, written_around(made := open_report(format), writer):
        for text, ending in made.finding(findings(Line(1, "he have", "\n", str(file), file), "he has")[0]):
            writer.write(text, ending, file)
    assert name in (tmp_path / "report").read_bytes()


@given(st.lists(st.sampled_from(["> one two", "> ", "> three four five", "six", "", "- seven \u00e9t\u00e9"]), max_size=6), st.data())
def test_changes_of_the_file_make_the_edits(lines: list[str], data: Any) -> None:
    content = "\n".join(lines) + "\n"
    whole, made = "", []
    for line in join_paragraphs(numbered(content)):
        words = line.text.split(" ")
        new = " ".join(
            data.draw(st.sampled_from([word, word, "new", f"{word} more", f"{word}."])) if word.isalpha() else word for word in words
        )
        edits = find_edits(line.text, new)
        made += [Finding.of(line, edit) for edit in edits]
        parts = edited_lines(line, edits) if isinstance(line, Paragraph) else [(apply_edits(line.text, edits), line.ending)]
        whole += "".join(text + ending for text, ending in parts)
    assert applied(content, made) == whole


def numbered(content: str) -> Iterator[Line]:
    """The lines of a text."""
    for number, text in enumerate(content.split("\n")[:-1], 1):
        yield Line(number, text, "\n", "a")


def applied(content: str, found: list[Finding]) -> str:
    """The text of a file with the changes of findings made, from their lines and columns."""
    for finding in reversed(found):
        lines = content.split("\n")
        start, end = (sum(len(each) + 1 for each in lines[: point.line - 1]) + len(point.before) for point in finding.change[:2])
        content = content[:start] + str(finding.change.text) + content[end:]
    return content
