"""The completion files are current, and bash completes with them."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.command_line import run

FOLDER = Path(__file__).parents[1] / "completions"
FILES = [("bash", "specdec.bash"), ("zsh", "_specdec"), ("fish", "specdec.fish")]


@pytest.mark.parametrize(("shell", "name"), FILES)
def test_shells_parse_the_completions(shell: str, name: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    result = subprocess.run([shell, "-n", FOLDER / name], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


def complete(*words: str) -> list[str]:
    """The completions of the last of `words` in bash."""
    script = 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _specdec 2>/dev/null; printf "%s\\n" "${COMPREPLY[@]}"'
    command = ["bash", "-c", script, str(FOLDER / "specdec.bash"), "specdec", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def test_bash_completes_commands_options_and_values() -> None:
    assert complete("prep") == ["prepare"]
    assert complete("translate", "--device", "c") == ["cpu", "cuda"]
    assert complete("translate", "--device", "=", "c") == ["cpu", "cuda"]
    assert complete("translate", "--decoding", "specdec") == ["specdec", "specdec++"]
    assert complete("translate", "--block-size", "") == ["auto"]
    assert "--version" in complete("--")
    assert complete("prepare", "--vocab") == ["--vocabulary-size"]
    assert complete("prepare", "--vocabulary-size", "") == []
    assert complete("--help", "prepare", "--detok") == ["--detokenize"]
    assert complete("translate", "-m", "en-") == ["en-de", "en-gec"]
    assert complete("bench", "--row", "ctr") == ["ctranslate2-greedy", "ctranslate2-beam"]
    assert complete("train-drafter", "--recipe", "quick") == ["quick-drafter", "quick-verifier"]
    assert complete("help", "prep") == ["prepare"]
    assert complete("nix", "") == []


def test_bash_completes_folders_besides_names(tmp_path: Path) -> None:
    (tmp_path / "en-own").mkdir()
    script = 'source "$0"; compopt() { echo "$@"; }; COMP_WORDS=(specdec translate -m en-); COMP_CWORD=3; _specdec'
    result = subprocess.run(["bash", "-c", script, FOLDER / "specdec.bash"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert result.stdout == "-o plusdirs\n"


@pytest.mark.parametrize(("shell", "name"), FILES)
def test_show_completion_prints_the_completion_files(shell: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("--show-completion", shell).stdout == (FOLDER / name).read_text(), "run `make completions`"
    monkeypatch.setenv("SHELL", f"/usr/bin/{shell}")
    assert run("--show-completion").stdout == (FOLDER / name).read_text()


def test_an_unknown_shell_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/dash")
    result = run("--show-completion")
    assert (result.exit_code, "'bash'" in result.stderr, "Value error" in result.stderr) == (2, True, False)
