"""The requirements of an installation, and messages of `make`."""

import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from tests.command_line import run

ROOT = Path(__file__).parent.parent


def names(requirements: list[str]) -> set[str]:
    return {requirement.partition(">")[0] for requirement in requirements}


def test_libraries_of_training_are_an_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert not names(project["dependencies"]) & {"lightning-fabric", "setuptools"}
    assert names(extras["training"]) == {"lightning-fabric"}
    (others,) = (requirement for requirement in extras["dev"] if requirement.startswith("specdec["))
    assert set(others.removeprefix("specdec[").removesuffix("]").split(",")) == extras.keys() - {"dev", "kernels-test"}


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_announces_installations() -> None:
    told = subprocess.run(
        ["make", "-n", "-W", "pyproject.toml", "test", "install"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert "pytest -rs" in told
    assert told.count("pip install") == told.count('echo "Installing into') == 2
    assert "--quiet" not in told


def test_the_hook_for_pre_commit_fails_for_a_file_with_mistakes(tmp_path: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert hook["require_serial"] and hook["types_or"] == ["plain-text", "markdown"]
    program, *arguments = shlex.split(hook["entry"])
    assert program == "specdec"
    for text, code in (("He have a car.\n", 1), ("He has a car.\n", 0)):
        (tmp_path / "a.md").write_text(text, encoding="utf-8")
        assert run(*arguments, tmp_path / "a.md").exit_code == code
