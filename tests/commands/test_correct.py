"""`specdec correct`: one line for each line, unchanged if nothing is to be corrected, with comments, marks and spaces kept."""

import json
import re
from io import BytesIO
from pathlib import Path

import docx
import pytest
from docx.oxml import OxmlElement

from specdec_cli.console.corrections import marked_edits
from specdec_cli.text.edits import Edit, apply_edits
from tests import command_line
from tests.command_line import Result, done

WILD = ("--max-edit-ratio", "100")
"""Options with which the edits of a random model, which changes nearly every word, are applied."""
TEXT = "kalo\n\n \u00a0 resu\u2028lo \r\n`di fo` me@di.fo\nlast".encode()


def run(bundle: Path, *arguments: object, text: bytes = TEXT) -> Result:
    return command_line.run("correct", "-m", bundle, "--threads", "1", "--max-length", "8", *arguments, text=text)


def test_lines_without_applied_edits_are_unchanged(corrector_folder: Path) -> None:
    result = run(corrector_folder, *WILD, "--min-score", 0)
    assert (result.exit_code, result.stdout_bytes) == (0, TEXT + b"\n")
    assert run(corrector_folder, "--max-edit-ratio", 0).stdout_bytes == TEXT + b"\n"


@pytest.mark.parametrize("command", ["correct", "translate"])
def test_the_code_of_programs_is_copied(command: str, corrector_folder: Path, tmp_path: Path) -> None:
    code = ("import os", "if handler is None:", "    return Match.FULL", "kalo = resu(", "    dife,", ")")
    (tmp_path / "a.py").write_text("\n".join([*code, "# di fo kalo resu mita nosu"]) + "\n")
    arguments = [command, "-m", corrector_folder, "--threads", 1, "--max-length", 8, "--json", tmp_path / "a.py"]
    result = command_line.run(*arguments)
    *lines, last = map(json.loads, result.stdout.splitlines())
    assert (result.exit_code, [line["text"] for line in lines]) == (0, list(code))
    assert {line["tokens"] for line in lines} == {0} and last["tokens"] > 0


def test_a_bundle_that_translates_cannot_correct(bundle_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(TEXT)
    result = run(bundle_folder, "--in-place", tmp_path / "a.txt")
    assert (result.exit_code, (tmp_path / "a.txt").read_bytes()) == (2, TEXT)
    assert result.stderr == f"specdec: error: --model {bundle_folder} translates, en to de, and cannot correct text\n"


@pytest.mark.parametrize("search", [("--decoding", "beam"), ("--beam-size", 2), ("--length-penalty", 1)])
@pytest.mark.parametrize("chosen", [("--mode", "careful"), ("--min-score", 0)])
def test_edits_of_beam_search_are_not_chosen_by_score(
    search: tuple[object, ...], chosen: tuple[object, ...], corrector_folder: Path
) -> None:
    result = run(corrector_folder, *search, *chosen)
    assert (result.exit_code, f"{chosen[0]} needs scores of tokens, which decoding beam does not have" in result.stderr) == (2, True)


def test_edits_in_json_produce_the_text(corrector_folder: Path) -> None:
    result = run(corrector_folder, *WILD, "--json")
    records = [json.loads(line) for line in result.stdout.split("\n")[:-1]]
    assert [record["line"] for record in records] == [1, 2, 3, 4, 5]
    assert any(record["edits"] for record in records)
    for record in records:
        text = record["source"]
        for edit in reversed(record["edits"]):
            assert text[edit["start"] : edit["end"]] == edit["source"]
            assert edit["score"] <= 0
            text = text[: edit["start"]] + edit["text"] + text[edit["end"] :]
        assert text == record["text"]
    assert {"tokens", "rounds", "tokens_per_round", "score", "decoding"} < set(records[0])
    assert run(corrector_folder, *WILD).stdout_bytes.count(b"\n") == 5


def test_check_reports_places_and_sets_the_exit_code(corrector_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(TEXT)
    found = run(corrector_folder, *WILD, "--check", tmp_path / "a.txt").stdout.splitlines()
    line = re.compile(rf"{tmp_path}/a.txt:[1-5]:\d+: .*use \u201c.*\u201d instead of \u201c.*\u201d \[R:.*\] \(-\d+\.\d\d\)")
    assert found and all(map(line.fullmatch, found))
    result = run(corrector_folder, *WILD, "--check")
    assert result.exit_code == 1
    assert result.stdout.startswith("<stdin>:3:4: the ")
    assert "of 5 lines need" in result.stderr
    result = run(corrector_folder, "--max-edit-ratio", 0, "--check")
    assert (result.exit_code, result.stdout) == (0, "")


@pytest.mark.parametrize("decoding", ["input-guided", "beam"])
def test_other_decodings_are_used(corrector_folder: Path, decoding: str) -> None:
    result = done(run(corrector_folder, *WILD, "--decoding", decoding, "--stats"))
    assert decoding in result.stderr
    if decoding == "input-guided":
        assert result.stdout_bytes == run(corrector_folder, *WILD).stdout_bytes


def test_output_formats_exclude_each_other(corrector_folder: Path) -> None:
    result = run(corrector_folder, "--diff", "--m2")
    assert result.exit_code == 2
    assert "give one" in result.stderr


def test_diff_marks_edits() -> None:
    edits = (Edit(3, 5, "go", "goes"), Edit(10, 10, "", " now"))
    assert apply_edits("He go home.", marked_edits(edits, coloured=False)) == "He [-go-]{+goes+} home{+ now+}."
    coloured = apply_edits("He go home.", marked_edits(edits, coloured=True))
    assert coloured.startswith("He \033[31m[-go-]\033[0m\033[32;1m{+goes+}\033[0m home")


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
    result = command_line.run("correct", "--format", format, "--threads", "1", text=before)
    assert (result.exit_code, result.stdout) == (0, after)


def test_an_error_beside_the_mark_of_a_comment_is_corrected_in_a_word_document(tmp_path: Path) -> None:
    made = docx.Document()
    paragraph = made.add_paragraph("He have")
    paragraph.add_run()._r.append(OxmlElement("w:commentReference"))
    paragraph.add_run(" no tea.")
    made.save(str(tmp_path / "a.docx"))
    done(command_line.run("correct", "--output", tmp_path / "b.docx", "--threads", "1", tmp_path / "a.docx"))
    changed = docx.Document(BytesIO((tmp_path / "b.docx").read_bytes())).paragraphs[0]
    assert changed.text == "He has no tea."
    assert changed._p.xpath(".//w:commentReference")
