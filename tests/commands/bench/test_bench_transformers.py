"""Rows of transformers' `generate` in `specdec bench`."""

import json
from importlib import util
from pathlib import Path
from typing import Any

import pytest

from specdec_cli.errors import MissingLibraryError, UsageError
from tests.command_line import done
from tests.commands.bench.conftest import run

ROWS = ("greedy", "beam", "transformers-greedy", "transformers-beam", "transformers-lookup")


@pytest.fixture(scope="module")
def hub_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model of Marian's architecture, as the hub has it, that copies its sources."""
    pytest.importorskip("transformers", reason="transformers is not installed")
    from tests.converters.huggingface import marian

    return marian(tmp_path_factory.mktemp("hub")).folder


def measured(model: Path, tmp_path: Path, *arguments: object) -> list[dict[str, Any]]:
    """The rows in the JSON of a bench in float32."""
    asked = [part for row in ROWS for part in ("--row", row)]
    done(run("-m", model, *asked, "--precision", "float32", "--beam-size", 3, *arguments, "--json", tmp_path / "a.json"))
    rows: list[dict[str, Any]] = json.loads((tmp_path / "a.json").read_text())["rows"]
    return rows


@pytest.mark.parametrize("batch", [1, 3])
def test_transformers_gives_the_same_tokens(batch: int, hub_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    greedy, beam, theirs, searched, looked_up = measured(hub_folder, tmp_path, "--batch-size", batch)
    assert theirs["identical"] == looked_up["identical"] == [3, 3]
    assert (searched["bleu"], searched["identical"]) == (beam["bleu"], beam["identical"])
    assert theirs["settings"]["engine"].startswith("transformers ") and theirs["settings"]["precision"] == "float32"
    assert (searched["settings"]["beam_size"], looked_up["settings"]["block_size"]) == (3, 10)
    assert (theirs["settings"]["batch_size"], looked_up["settings"]["batch_size"]) == (batch, 1)
    assert greedy["tokens_per_second"] > 0 < theirs["tokens_per_second"] and theirs["tokens_per_round"] is None


def test_models_that_are_not_of_the_hub_are_refused(folder: Path) -> None:
    error = run("-m", folder, "--row", "transformers-greedy").exception
    assert isinstance(error, UsageError)
    assert f"--row transformers-greedy: {folder} is not the folder of a model of the Hugging Face hub" in str(error)


def test_a_missing_library_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find = util.find_spec
    monkeypatch.setattr("specdec_cli.benchmark.toolkits.find_spec", lambda name: None if name == "transformers" else find(name))
    error = run("-m", folder, "--row", "transformers-lookup").exception
    assert isinstance(error, MissingLibraryError) and "--row transformers-lookup needs transformers" in str(error)


@pytest.mark.parametrize(("row", "words"), [("transformers-beam:int8", "has no presets"), ("transformers-sample", "is not known")])
def test_rows_that_transformers_does_not_have_are_refused(row: str, words: str) -> None:
    assert words in str(run("--row", row).exception)
