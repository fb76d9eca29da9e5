"""Structured files without a reader are refused unless a format is named, and so is structured text from stdin."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from specdec_cli.console.input_output import check_lines, inputs_of
from specdec_cli.documents.document import Source
from specdec_cli.documents.formats import ENDINGS, FORMATS, format_of, read_document
from specdec_cli.documents.unread import UNREAD, check_readable, unstructured
from specdec_cli.errors import InputError
from specdec_cli.text.io.lines import Line
from specdec_cli.text.segment.code import is_code
from tests.command_line import run
from tests.tables import tables

CASES = tables(__file__)

NAMED = ["tex", "adoc", "rst", "jsonl", "ass", "toml", "ftl", "xcstrings", "eml", "ics", "org", "lrc"]


def line(text: str, number: int = 1, file: Path | None = None) -> Line:
    return Line(number, text, "\n", f"{file or 'stdin'}, line {number}", file)


@pytest.mark.parametrize("ending", sorted(UNREAD - {"ts"}))
def test_files_without_a_reader_are_refused_with_the_formats_that_read_them(ending: str, tmp_path: Path) -> None:
    for name in (f"a.{ending}", f"A.{ending.upper()}", f"a.{ending}.gz"):
        path = tmp_path / name
        path.write_bytes(b"The house is red.\n")
        with pytest.raises(InputError, match=rf"{name}: \.{ending} files .*--format txt .*--format lines"):
            inputs_of([path], None)
        with pytest.raises(InputError, match="have no reader"):
            check_lines([path], None)
        assert [each.format for each in inputs_of([path], "lines")] == ["lines"]
        assert [each.format for each in inputs_of([path], "txt")] == ["txt"]
        assert [each.format for each in inputs_of([path], None, writes=False)] == [format_of(path)]


def test_the_table_has_the_usual_formats_and_none_with_a_reader() -> None:
    assert set(NAMED) <= UNREAD
    assert not UNREAD & {*FORMATS, *(ending.removeprefix(".") for ending in ENDINGS)}
    assert format_of(Path("a.mdx")) == "md" and ".mdx" in ENDINGS


@pytest.mark.parametrize(("name", "text", "refused"), CASES.files_of_two_kinds_are_told_apart_and_other_endings_are_lines)
def test_files_of_two_kinds_are_told_apart_and_other_endings_are_lines(name: str, text: str, refused: bool, tmp_path: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    if refused:
        with pytest.raises(InputError, match="--format txt reads it as text, --format lines as lines"):
            check_readable([path])
    else:
        check_readable([path])


def test_a_compressed_file_is_looked_into(tmp_path: Path) -> None:
    path = tmp_path / "a.ts.gz"
    path.write_bytes(gzip.compress(b'<?xml version="1.0"?>\n'))
    with pytest.raises(InputError, match=r"\.ts files"):
        check_readable([path])


STRUCTURED = ['<?xml version="1.0"?>', "<!DOCTYPE html>", "{", "[", '{"a": 1}', "  [1, 2]", "{}", '\ufeff{"a": {"b": []}}']


@pytest.mark.parametrize("text", STRUCTURED)
def test_structured_text_of_stdin_is_refused_before_anything_else_is_read(text: str) -> None:
    def lines() -> Iterator[Line]:
        yield line("")
        yield line(text, 2)
        raise AssertionError("another line was read")

    found = unstructured(lines())
    assert next(found).text == ""
    with pytest.raises(InputError, match=r"stdin, line 2: begins XML or JSON; .*--format json.*--format txt .*--format lines"):
        next(found)


@pytest.mark.parametrize("text", CASES.texts)
def test_other_first_lines_of_stdin_are_lines(text: str) -> None:
    given = [line(""), line(text, 2), line("{", 3), line('{"a": 1}', 4)]
    assert list(unstructured(given)) == given


def test_files_may_begin_in_any_way() -> None:
    given = [line("{", 1, Path("a.txt")), line('{"a": 1}', 1, Path("b.log"))]
    assert list(unstructured(given)) == given


@pytest.mark.parametrize("command", ["translate", "correct"])
def test_commands_refuse_them_with_exit_code_3_and_write_nothing(command: str, tmp_path: Path) -> None:
    path, output = tmp_path / "a.tex", tmp_path / "b.tex"
    path.write_text("\\section{The house}\n", encoding="utf-8")
    found = run(command, path, "-o", output)
    assert found.exit_code != 0 and isinstance(found.exception, InputError | SystemExit) and not output.exists()
    found = run(command, "--threads", "1", text='{"hello": "Good morning"}\n')
    assert found.exit_code != 0 and found.stdout == ""


def test_check_reads_them_still(tmp_path: Path) -> None:
    path = tmp_path / "a.tex"
    path.write_text("He go to school.\n", encoding="utf-8")
    found = run("correct", "--check", "--threads", "1", path)
    assert found.exit_code == 1 and "a.tex:1:" in found.stdout


def test_the_statements_of_mdx_stay() -> None:
    statements = (
        'import Foo from "./foo"',
        'export const meta = {title: "The house"}',
        "export default Foo",
        "export default function a() {}",
    )
    text = "\n\n".join([*statements, "# The title", "<Foo>The house</Foo>\n"])
    found = read_document(Source(text.encode(), "a.mdx"), format_of(Path("a.mdx")))
    read = [segment.text for segment in found.segments]
    assert (
        "The title" in read
        and all(is_code(each) for each in read if each in statements)
        and not is_code("export default settings to a file")
    )
