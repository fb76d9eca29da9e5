"""Program code and lines of logs: by the name of a file, and by the form of lines beside each other."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from specdec_cli.console.code_files import code_of_file, marked
from specdec_cli.errors import InputError
from specdec_cli.text.io.lines import Line, read_lines
from specdec_cli.text.segment.code import code_lines
from specdec_cli.text.segment.layout import Passthrough, segment_line, split_marks
from tests.tables import tables

CASES = tables(__file__)

PYTHON = '''"""The route of an request."""

import os

class Route(Base):
    """A route have a path.

    It match requests, as in:

        return x.y
    """

    async def matches(self, scope: dict) -> tuple:
        # This are the easy case.
        if scope is None:
            return Match.FULL  # the end of it
        await send(response)
        try:
            value = parse(
                scope,
                key="He go home",
            )
        except ValueError as exc:
            raise RuntimeError(f"bad value: {value}") from exc
'''


def test_comments_and_documentation_of_a_program_are_no_code() -> None:
    lines = PYTHON.splitlines()
    found = code_of_file(lines, "a.py")
    assert found is not None
    text = {number for number, (line, is_code) in enumerate(zip(lines, found, strict=True), 1) if line.strip() and not is_code}
    assert text == {1, 6, 8, 10, 11, 14}


@pytest.mark.parametrize(
    ("name", "lines", "expected"),
    [
        (
            "a.c",
            ["/* This are a comment. */", "#include <a.h>", "int f(void) {", "  // It go home.", "}"],
            [False, True, True, False, True],
        ),
        ("a.sh", ["#!/bin/sh", "# This are a comment.", 'for i in a b; do echo "$i"; done'], [True, False, True]),
        ("a.js", ["// It go.", "const a = b.c(d);", "if (a) {", "}"], [False, True, True, True]),
        ("a.cs", ["Je to tady.", "Tom je doma."], None),
        ("a.md", ["f(x) = y;", "import os"], None),
        ("a.json", ['{"a": 1,', '"b": [2]}'], None),
        ("a.unknown", ["import os", "x = f(y)"], None),
    ],
)
def test_the_name_of_a_file_says_how_code_is_written(name: str, lines: list[str], expected: list[bool] | None) -> None:
    assert code_of_file(lines, name) == expected


@pytest.mark.parametrize("lines", CASES.lines_beside_code_are_code_by_their_form)
def test_lines_beside_code_are_code_by_their_form(lines: list[str]) -> None:
    assert all(code_lines(lines))


@pytest.mark.parametrize("lines", CASES.prose_and_comments_are_no_code)
def test_prose_and_comments_are_no_code(lines: list[str]) -> None:
    assert [line for line, is_code in zip(lines, code_lines(lines), strict=True) if is_code] == [
        line for line in lines if line in ("import os", "x = f(y)")
    ]


def test_files_are_marked_one_by_one(tmp_path: Path) -> None:
    paths = [tmp_path / "a.py", tmp_path / "b.txt", tmp_path / "c.py", tmp_path / "d.de"]
    for path, text in zip(paths, ["# A word\nx = 1\n", "x = 1\n", "import os\n", "Ja.\n"], strict=True):
        path.write_text(text)
    assert [line.is_code for line in marked(read_lines(paths))] == [False, True, None, True, None]


def test_lines_before_an_error_are_marked(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("")

    def lines() -> Iterator[Line]:
        yield Line(1, "import os", "\n", "a.py, line 1", path)
        raise InputError("a.py, line 2: damaged")

    found = marked(lines())
    assert next(found).is_code
    with pytest.raises(InputError, match="line 2"):
        next(found)


THREADS = ("main", "worker-1", "http-nio-8080-exec-3", "Thread-12", "GC", "reactor-http-epoll-2")
LEVELS = ("INFO", "WARN", "ERROR", "DEBUG", "FATAL", "WARNING", "TRACE", "NOTICE")
LOGGERS = ("com.example.App", "app.server", "root", "o.s.b.w.e.tomcat.TomcatWebServer", "django.request", "c.e.Main")
MESSAGES = ("The server was started.", "Connection refused by the remote host.", "Could not open the file.", "Retrying in 5 seconds.")


@pytest.mark.parametrize("seed", range(2))
def test_only_the_message_of_a_drawn_log_line_is_text(seed: int) -> None:
    draw = random.Random(seed)
    for number in range(60):
        fields = {"n": draw.randrange(1, 9), "level": draw.choice(LEVELS), "thread": draw.choice(THREADS), "logger": draw.choice(LOGGERS)}
        head, message = CASES.heads[number % len(CASES.heads)].format(**fields), draw.choice(MESSAGES)
        assert split_marks(head + message) == (head, message, "")


@pytest.mark.parametrize(("line", "head", "body"), CASES.keys_stay_and_words_are_text)
def test_keys_stay_and_words_are_text(line: str, head: str, body: str) -> None:
    assert split_marks(line)[:2] == (head, body)


@pytest.mark.parametrize("line", ['  "main": 16,', '"on": true', "[main.section]", "[userName]", "menu-open=18 user=main status=ok"])
def test_data_without_text_is_copied(line: str) -> None:
    assert segment_line(line, 100, len, Passthrough("en", "de")).texts == ()


@pytest.mark.parametrize(("line", "texts"), CASES.a_row_with_a_quantity_has_cells)
def test_a_row_with_a_quantity_has_cells(line: str, texts: list[str]) -> None:
    assert segment_line(line, 100, len, Passthrough("en", "de")).texts == tuple(texts)
