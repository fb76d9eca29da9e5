"""Programs that read reports: vim takes places from them; pre-commit runs the hook's command."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.command_line import Result, run
from tests.source import ROOT

TEXT = "\u00c9t\u00e9 \U0001f600, she have a dog.\nHe go to school every days.\n"


@pytest.fixture
def essay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with errors, in the working folder."""
    monkeypatch.chdir(tmp_path)
    Path("my essay.txt").write_text(TEXT, encoding="utf-8")
    return Path("my essay.txt")


def check(*arguments: object) -> Result:
    return run("correct", "--check", "--quiet", "--threads", "1", *arguments, text=TEXT.encode())


@pytest.mark.skipif(shutil.which("vim") is None, reason="vim is not installed")
@pytest.mark.parametrize("format", ["text", "gnu"])
def test_vim_finds_the_words(essay: Path, format: str) -> None:
    found = check("--format", format, essay)
    assert found.exit_code == 1
    Path("report").write_text(found.stdout, encoding="utf-8")
    # The quickfix list as JSON: of each entry the file, the line, the column in bytes.
    values = "map(getqflist(), {_, e -> [bufname(e.bufnr), e.lnum, e.col, e.valid]})"
    commands = ["-c", "cgetfile report", "-c", f"call writefile([json_encode({values})], 'places')", "-c", "qa!"]
    subprocess.run(
        ["vim", "-es", "-u", "NONE", "-i", "NONE", "--cmd", "set encoding=utf-8", *commands], timeout=60, stdin=subprocess.DEVNULL
    )
    places = json.loads(Path("places").read_text())
    assert places and all(name == str(essay) and valid for name, _, _, valid in places)
    if format == "gnu":
        lines = [line.encode() for line in TEXT.split("\n")]
        words = [lines[line - 1][column - 1 :].split()[0].decode() for _, line, column, _ in places]
        assert set(words) <= {"have", "go", "days.", "every"} and "go" in words


@pytest.mark.skipif(shutil.which("emacs") is None, reason="Emacs is not installed")
def test_emacs_finds_the_words(essay: Path) -> None:
    essay.write_text("Fine.\n\tNote:\tHe have no tea.\nThe caf\u00e9 were closed, and he go home.\n", encoding="utf-8")
    report = check(essay).stdout
    Path("report").write_text(f"specdec\n{report}", encoding="utf-8")  # Emacs goes to the finding after the first line
    script = """(progn
      (setq compilation-error-screen-columns nil)
      (find-file "report") (compilation-mode)
      (dotimes (_ (1- (count-lines (point-min) (point-max))))
        (next-error)
        (with-current-buffer (window-buffer)
          (princ (format "%s %s\\n" (line-number-at-pos) (buffer-substring (point) (line-end-position)))))))"""
    done = subprocess.run(["emacs", "-Q", "--batch", "--eval", script], capture_output=True, encoding="utf-8", timeout=60, check=True)
    found = [line.split()[:2] for line in done.stdout.splitlines()]
    assert len(found) == len(report.splitlines())
    assert found == [["2", "have"], ["3", "were"], ["3", "go"]]


def test_every_format_has_the_same_findings(essay: Path) -> None:
    plain = check(essay).stdout.splitlines()
    assert plain
    assert len(check("--format", "gnu", essay).stdout.splitlines()) == len(plain)
    assert len(check("--format", "rdjsonl", essay).stdout.splitlines()) == len(plain)
    assert len(json.loads(check("--format", "sarif", essay).stdout)["runs"][0]["results"]) == len(plain)
    found = json.loads(check("--format", "json", essay, essay).stdout)
    assert [each["file"] for each in found] == [str(essay)] * 2 * len(plain)
    assert json.loads(check("--format", "json").stdout)[0]["file"] is None  # stdin
    assert check("--format", "github", "--ignore-category", "VERB", "--ignore-category", "NOUN", essay).stdout.count("::warning ") < len(
        plain
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--format", "text", "--format", "gnu"), "--format text and --format gnu are alternatives"),
        (("--format", "md", "--format", "po"), "--format md and --format po are alternatives"),
        (("--format", "sarif", "--output-dir", "out"), "--format sarif is one document, which --output-dir cannot write"),
        (("--ignore-category", "VERBS"), "--ignore-category VERBS: not known; there are ADJ, "),
        (("--json",), "alternatives; give one"),
        (("--ignore-file", "-", "-"), "--ignore-file -: stdin is the text"),
    ],
)
def test_options_that_do_not_fit_are_refused(essay: Path, arguments: tuple[str, ...], message: str) -> None:
    found = check(*arguments, essay)
    assert found.exit_code == 2 and message in found.stderr


def test_the_format_of_a_report_needs_check(essay: Path) -> None:
    found = run("correct", "--format", "sarif", essay)
    assert found.exit_code == 2 and "--format sarif is the format of a report; add --check" in found.stderr


def test_the_hook_reports_findings(essay: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    program, *arguments = hook["entry"].split()
    assert program == "specdec" and hook["require_serial"]
    found = run(*arguments, "--ignore", "go", "--mode", "careful", essay)
    assert found.exit_code in (0, 1) and ":2:4:" not in found.stdout
