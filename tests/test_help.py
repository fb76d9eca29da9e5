"""The help texts are golden files, so that a review shows their changes. `make golden` writes them."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_group

from specdec_cli.app import COMMANDS, app
from specdec_cli.brief_help import BRIEF
from tests.command_line import run

DRAWN_BY = "0.29."
"""The version of typer that drew the texts; other versions draw other boxes around the same words."""
FOLDER = Path(__file__).parent / "golden" / "help"


# Prints the help texts of the program and of all commands as JSON, and those of `--help-all` where a command has a short help too.
PROGRAM = """
import io, json
from contextlib import redirect_stdout, suppress
from specdec_cli.app import COMMANDS, app
from specdec_cli.brief_help import BRIEF
asked = {"specdec": ["--help"]} | {name: [name, "--help"] for name in COMMANDS} | {f"{name}-all": [name, "--help-all"] for name in BRIEF}
texts = {}
for name, arguments in asked.items():
    with redirect_stdout(io.StringIO()) as text, suppress(SystemExit):
        app(arguments, prog_name="specdec")
    texts[name] = text.getvalue()
print(json.dumps(texts))
"""
ALL = [f"{name}-all" for name in BRIEF]


@cache
def help_texts(columns: int = 100) -> dict[str, str]:
    """The help texts by command, for a terminal of so many `columns` without colours."""
    environment = {"PATH": os.environ["PATH"], "COLUMNS": str(columns), "TERM": "dumb", "NO_COLOR": "1", "PYTHONUTF8": "1"}
    command = [sys.executable, "-c", PROGRAM]
    text = subprocess.run(command, capture_output=True, check=True, env=environment, cwd=Path(__file__).parents[1]).stdout
    texts: dict[str, str] = json.loads(text)
    return texts


@pytest.mark.parametrize("name", ["specdec", *COMMANDS, *ALL])
def test_help_equals_the_golden_files(name: str) -> None:
    lines = "".join(line.rstrip() + "\n" for line in help_texts()[name].strip().splitlines())
    path = FOLDER / f"{name}.txt"
    if "UPDATE_GOLDEN" in os.environ:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(lines, encoding="utf-8")
    agreed = path.read_text(encoding="utf-8") if path.exists() else ""
    if typer.__version__.startswith(DRAWN_BY):
        assert lines == agreed, "run `make golden`"
    else:
        assert set(words(lines)) == set(words(agreed)), "run `make golden` with typer 0.29"


def words(text: str) -> list[str]:
    """The words of a help text, without boxes."""
    return re.findall(r"[\w<>|.,:;-]+", text)


def test_words_are_compared_without_boxes() -> None:
    text = (FOLDER / "translate.txt").read_text(encoding="utf-8")
    drawn = re.sub(r"[\u2500-\u257f]", "+", text)
    assert drawn != text and words(drawn) == words(text)
    assert set(words(text.replace("--decoding", "--decode"))) != set(words(text))


def test_every_golden_file_belongs_to_a_command() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == {"specdec", *COMMANDS, *ALL}


@pytest.mark.parametrize("name", BRIEF)
def test_the_short_help_fits_on_a_page(name: str) -> None:
    lines = help_texts(80)[name].strip().splitlines()
    assert len(lines) <= 60
    assert all(any(line.strip() == f"{example}  {does}".strip() for line in map(squeezed, lines)) for example, does in examples(name))


def squeezed(line: str) -> str:
    """A line without more than two spaces in a row."""
    return re.sub(" {2,}", "  ", line.strip())


def examples(name: str) -> list[tuple[str, str]]:
    return list(BRIEF[name].examples.items())


@pytest.mark.parametrize("name", BRIEF)
def test_the_short_help_has_options_that_the_command_has(name: str) -> None:
    options = {option.removeprefix("--") for each in commands()[name].params for option in each.opts}
    shown = BRIEF[name].options.split()
    assert set(shown) <= options and len(set(shown)) == len(shown) and set(BRIEF[name].texts) <= set(shown)
    assert len(shown) < len(options)
    text = help_texts()[name]
    assert all(f"--{option} " in text or f"--{option}," in text for option in shown)


@pytest.mark.parametrize("line", [line for name in BRIEF for line, _ in examples(name)])
def test_the_examples_are_command_lines(line: str) -> None:
    program, name, *arguments = shlex.split(line.partition(" <")[0])
    assert program == "specdec"
    commands()[name].make_context(name, arguments)


def test_the_short_help_leaves_the_options_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    command = commands()["translate"]
    context = command.context_class(command, info_name="translate")
    before = [vars(each).copy() for each in command.get_params(context)]
    command.get_help(context)
    assert "--n-best" not in capsys.readouterr().out
    assert list(map(vars, command.get_params(context))) == before
    assert any(each.name == "n_best" and not each.hidden for each in command.params)


def commands() -> Mapping[str, Any]:
    return get_group(app).commands


def test_the_command_help_shows_help() -> None:
    for arguments, same in ((["help"], ["--help"]), (["help", "convert"], ["convert", "--help"])):
        shown = run(*arguments)
        assert (shown.exit_code, shown.stdout) == (0, run(*same).stdout)
    assert run("help", "nix").exit_code == 2
