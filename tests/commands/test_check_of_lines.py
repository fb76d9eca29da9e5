"""`specdec correct --check` for wrapped lines: only edits that their lines allow are findings."""

import json

from tests import command_line


def run(text: str, *arguments: str) -> command_line.Result:
    return command_line.run("correct", "--format", "md", "--threads", "1", *arguments, text=text)


def test_an_edit_that_only_removes_a_line_break_is_no_finding() -> None:
    result = run("Each lint\n, also contains information about these values.\n", "--check")
    assert (result.exit_code, result.stdout) == (0, "")


def test_the_source_of_a_finding_is_what_its_range_holds() -> None:
    text = "We have a big list of the\nthe big problem, and he have it.\n"
    lines = text.split("\n")
    found = json.loads(run(text, "--check", "--format", "json").stdout)
    assert [each["source"] for each in found] == ["the ", "have"]
    assert all(lines[each["line"] - 1][each["column"] - 1 : each["end_column"] - 1] == each["source"] for each in found)


def test_an_edit_that_would_begin_a_list_is_no_finding() -> None:
    found = json.loads(run("We have a big list of the\nthe 1. problem, and he have it.\n", "--check", "--format", "json").stdout)
    assert [each["source"] for each in found] == ["have"]
