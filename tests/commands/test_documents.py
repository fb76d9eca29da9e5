"""`specdec translate` and `specdec correct` for documents, with the shipped models."""

import gzip
import json
import os
from pathlib import Path

import pytest

from tests import command_line
from tests.command_line import Result, done

MARKDOWN = "# My house\n\nThe children are playing in the\ngarden behind `the house`. See\n[the guide](https://example.org/a).\n"
LEARNER = "# My *friend*\n\nHe have a car and she go to\nschool every days.\n"


def run(*arguments: object, text: bytes = b"") -> Result:
    return command_line.run(*arguments, "--threads", "1", text=text)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.md").write_text(MARKDOWN)
    (tmp_path / "b.md").write_text(LEARNER)
    (tmp_path / "c.txt").write_text(
        "The children are playing in the\ngarden behind the house and the dog\nis sleeping under the old tree.\n\nOne.\nTwo.\n"
    )
    (tmp_path / "d.en").write_text("Tom is at home.\n")
    return tmp_path


def test_markdown_is_translated_with_its_structure(folder: Path) -> None:
    result = done(run("translate", folder / "a.md", "--stats"))
    heading, blank, *lines = result.stdout.splitlines()
    assert (heading, blank) == ("# Mein Haus", "")
    assert "Kinder" in " ".join(lines)
    assert "`the house`" in " ".join(lines) and "](https://example.org/a)." in lines[-1]
    assert all(len(line) <= 36 for line in lines)
    assert "protected spans   3, of which the output has 3 exactly as often" in result.stderr


def test_the_format_of_stdin_is_lines_unless_given(folder: Path) -> None:
    lines = run("translate", text=MARKDOWN.encode()).stdout
    assert lines.count("\n") == MARKDOWN.count("\n")
    assert run("translate", "--format", "md", text=MARKDOWN.encode()).stdout == run("translate", folder / "a.md").stdout
    assert run("translate", "--format", "lines", folder / "a.md").stdout == lines


def test_only_wrapped_lines_of_a_text_file_are_joined(folder: Path) -> None:
    first, second = run("translate", folder / "c.txt").stdout.split("\n\n")
    joined = run(
        "translate", text=b"The children are playing in the garden behind the house and the dog is sleeping under the old tree.\n"
    ).stdout
    assert " ".join(first.split("\n")) == joined.strip()
    assert all(len(line) <= 35 for line in first.splitlines())
    assert second.count("\n") == 2


def test_output_goes_to_a_file_or_a_folder(folder: Path) -> None:
    shown = run("translate", folder / "a.md").stdout
    assert run("translate", folder / "a.md", "-o", folder / "out.md").stdout == ""
    assert (folder / "out.md").read_text() == shown
    assert run("translate", folder / "a.md", folder / "d.en", "--output-dir", folder / "out").exit_code == 0
    assert (folder / "out" / "a.md").read_text() == shown
    assert (folder / "out" / "d.en").read_text() == "Tom ist zu Hause.\n"
    several = run("translate", folder / "a.md", folder / "d.en")
    assert (several.exit_code, several.stdout) == (2, "")
    assert "a document among several files; give --output-dir" in several.stderr
    for name in ("a.md", "d.en"):
        nowhere = run("translate", folder / name, "-o", folder / "no" / "out")
        assert nowhere.exit_code == 2 and "out: its folder does not exist" in nowhere.stderr
    itself = run("translate", folder / "a.md", "-o", folder / "a.md")
    assert itself.exit_code == 2 and "both input and output" in itself.stderr


def test_json_has_an_object_for_each_segment(folder: Path) -> None:
    found = [json.loads(line) for line in run("translate", "--json", folder / "a.md", folder / "d.en").stdout.splitlines()]
    assert [(each["file"], each["line"]) for each in found] == [
        (str(folder / "a.md"), 1),
        (str(folder / "a.md"), 3),
        (str(folder / "d.en"), 1),
    ]
    assert found[1]["source"].startswith("The children are playing in the garden behind `the house`. See <g1>the guide</g1>.")


def test_corrections_keep_the_lines(folder: Path) -> None:
    expected = LEARNER.replace("have", "has").replace("go to", "goes to").replace("days", "day")
    assert run("correct", folder / "b.md").stdout == expected
    assert run("correct", "--diff", folder / "b.md").stdout == (
        LEARNER.replace("have", "[-have-]{+has+}").replace("go to", "[-go-]{+goes+} to").replace("days", "[-days-]{+day+}")
    )
    checked = run("correct", "--check", folder / "b.md")
    assert checked.exit_code == 1
    assert [line.split(": ")[0] for line in checked.stdout.splitlines()] == [
        f"{folder}/b.md:3:4",
        f"{folder}/b.md:3:23",
        f"{folder}/b.md:4:14",
    ]


def test_in_place_writes_only_changed_files(folder: Path) -> None:
    (folder / "b.md").chmod(0o640)
    (folder / "link.md").symlink_to("b.md")
    (folder / "e.en").write_text("He have a car.\r\nIt is red.")
    for name in ("a.md", "d.en"):
        os.utime(folder / name, (0, 0))
    result = run("correct", "--in-place", *(folder / name for name in ("a.md", "link.md", "d.en", "e.en")))
    assert (result.exit_code, result.stdout) == (0, "")
    assert "He has a car" in (folder / "b.md").read_text()
    assert (folder / "link.md").is_symlink() and (folder / "b.md").stat().st_mode & 0o777 == 0o640
    assert (folder / "e.en").read_bytes() == b"He has a car.\r\nIt is red."
    assert [(folder / name).stat().st_mtime for name in ("a.md", "d.en")] == [0, 0]
    assert run("correct", "--in-place").exit_code == 2
    (folder / "z.txt.gz").write_bytes(gzip.compress(b"a\n"))
    assert "z.txt.gz: cannot be changed in place, because it is compressed" in run("correct", "--in-place", folder / "z.txt.gz").stderr
    twice = run("correct", "--in-place", folder / "d.en", folder / "d.en")
    assert (twice.exit_code, (folder / "d.en").read_text()) == (2, "Tom is at home.\n")
    assert "d.en: is given twice" in twice.stderr
    assert "alternatives" in run("correct", "--in-place", "--diff", folder / "a.md").stderr


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.po", b'msgid "a"\nwrong\n', "a.po, line 2: not a line of a PO file"),
        ("a.xlf", b"<xliff version='1.2'>\n<a></b>", "a.xlf, line 2: not well-formed XML"),
        ("a.srt", b"1\n00:61 --> 00:02\n", "a.srt, line 2: not a time"),
        ("a.md", b"a\n\xff\n", "a.md, line 2: not valid UTF-8"),
        ("a.html", b"a\n\0\n", "a.html, line 2: holds a NUL byte"),
        ("a.docx", b"PK", "a.docx: not readable as a ZIP file"),
    ],
)
def test_bad_documents_leave_the_output_as_it_was(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    (tmp_path / "out").write_text("old")
    result = run("translate", tmp_path / name, "-o", tmp_path / "out")
    assert result.exit_code == 3
    assert message in result.stderr
    assert (tmp_path / "out").read_text() == "old"


def test_too_large_documents_are_refused_before_they_are_read(tmp_path: Path) -> None:
    with (tmp_path / "a.md").open("wb") as file:
        file.truncate(2**40)
    result = run("translate", tmp_path / "a.md")
    assert result.exit_code == 3
    assert "a document of more than 64 MiB" in result.stderr


def test_po_entries_are_filled_and_fuzzy(tmp_path: Path) -> None:
    header = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n'
    (tmp_path / "a.po").write_text(header + 'msgid "Could not open file %s."\nmsgstr ""\n\nmsgid "Done"\nmsgstr "Fertig"\n')
    shown = run("translate", tmp_path / "a.po").stdout
    assert shown.startswith(header + '#, fuzzy\nmsgid "Could not open file %s."\nmsgstr "') and shown.count("%s") == 2
    assert shown.endswith('msgid "Done"\nmsgstr "Fertig"\n')
    assert shown.count("#, fuzzy") == 1
    assert run("translate", "--all", tmp_path / "a.po").stdout.count("#, fuzzy") == 2


def test_errors_beside_inline_tags_are_corrected(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<p>She <i>don't</i> like coffee, and he <b>have a</b> car.</p>\n")
    assert run("correct", tmp_path / "a.html").stdout == "<p>She <i>doesn't</i> like coffee, and he <b>has a</b> car.</p>\n"
    assert run("correct", text=b"He have <a href='x'>two brother</a>.\n").stdout == "He has <a href='x'>two brothers</a>.\n"


def test_a_sentence_with_a_line_break_in_it_keeps_its_case(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<p>I has apples<br>and he do not like it.</p>\n")
    assert run("correct", tmp_path / "a.html").stdout == "<p>I have apples<br>and he does not like it.</p>\n"
    (tmp_path / "a.md").write_text("I has apples  \nand he do not like it.\n")
    assert run("correct", tmp_path / "a.md").stdout == "I have apples  \nand he does not like it.\n"


def test_the_attributes_of_tags_are_unchanged(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text('He have <a title="if x > y then he go" href="c">many dogs</a> and cat.\n')
    expected = 'He has <a title="if x > y then he go" href="c">many dogs</a> and cat.\n'
    assert run("correct", tmp_path / "a.md").stdout == expected
    assert run("correct", text=(tmp_path / "a.md").read_bytes()).stdout == expected


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "a.po",
            'msgid ""\nmsgstr "Language: fr\\n"\n\nmsgid "Done"\nmsgstr ""\n',
            "its target language is fr, but that of the model is de",
        ),
        (
            "a.xlf",
            '<xliff version="1.2"><file source-language="fr" target-language="it"><body/></file></xliff>',
            "its source language is fr, but that of the model is en",
        ),
        (
            "b.xlf",
            '<xliff version="2.0" srcLang="en-GB" trgLang="it"><file/></xliff>',
            "its target language is it, but that of the model is de",
        ),
    ],
)
def test_documents_in_other_languages_are_refused(name: str, content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    result = run("translate", tmp_path / name)
    assert (result.exit_code, result.stdout) == (3, "")
    assert f"{name}: {message}" in " ".join(result.stderr.split())


def test_documents_with_the_languages_of_the_model_are_translated(tmp_path: Path) -> None:
    for language in ("", "de_AT"):
        (tmp_path / "a.po").write_text(f'msgid ""\nmsgstr "Language: {language}\\n"\n\nmsgid "He has a car."\nmsgstr ""\n')
        assert "Auto" in run("translate", tmp_path / "a.po").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.csv", "--columns", "key"], "--columns: a.csv has no column 'key'; it has title, note"),
        (["a.md", "--columns", "title"], "--columns is for the format csv; a.md is read as md"),
        (["--columns", "1"], "--columns is for the format csv; stdin is read as lines"),
        (["a.csv", "a.md", "--columns", "1", "--output-dir", "out"], "--columns is for the format csv; a.md is read as md"),
        (["a.csv", "--columns", ","], "--columns names no column"),
    ],
)
def test_columns_are_for_tables_that_have_them(arguments: list[str], message: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    Path("a.csv").write_text("title,note\nThe old house,My friend is here.\n")
    for command in ("translate", "correct"):
        result = run(command, *arguments)
        assert result.exit_code == 2 and message in " ".join(result.stderr.split())
    assert run("translate", "a.csv", "--columns", "note").stdout == "title,note\nThe old house,Mein Freund ist hier.\n"
