"""The requirements of an installation, and messages of `make`."""

import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def names(requirements: list[str]) -> set[str]:
    return {requirement.partition(">")[0] for requirement in requirements}


def test_libraries_of_training_are_an_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert not names(project["dependencies"]) & {"lightning-fabric", "setuptools"}
    assert names(extras["training"]) == {"lightning-fabric"}
    (others,) = (requirement for requirement in extras["dev"] if requirement.startswith("specdec["))
    assert set(others.removeprefix("specdec[").removesuffix("]").split(",")) == extras.keys() - {"dev"}


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_announces_installations() -> None:
    told = subprocess.run(
        ["make", "-n", "-W", "pyproject.toml", "test", "install"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert "pytest -rs" in told
    assert told.count("pip install") == told.count('echo "Installing into') == 2
    assert "--quiet" not in told
