"""The completion files: fresh, and what bash makes of them."""

import shutil
import subprocess
from pathlib import Path

import pytest

from specdec_cli import completions

FOLDER = Path(__file__).parents[1] / "completions"
NAMES = ["specdec.bash", "_specdec", "specdec.fish"]


@pytest.mark.parametrize("name", NAMES)
def test_are_fresh(tmp_path: Path, name: str) -> None:
    completions.write_completions(tmp_path)
    assert (FOLDER / name).read_text() == (tmp_path / name).read_text(), "run `make completions`"


@pytest.mark.parametrize(("shell", "name"), [("bash", "specdec.bash"), ("zsh", "_specdec"), ("fish", "specdec.fish")])
def test_shells_accept_them(shell: str, name: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    result = subprocess.run([shell, "-n", FOLDER / name], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


def complete(*words: str) -> list[str]:
    """What bash proposes for the last of `words`."""
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
    assert complete("nix", "") == []
