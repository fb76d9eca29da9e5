"""The engine that runs each row of `specdec bench`."""

import json
from pathlib import Path

import pytest

from specdec_cli.commands.bench import bench
from specdec_cli.errors import UsageError
from specdec_cli.native.library import LibraryError, load_library
from tests.command_line import run_function


def run(bundle: Path, *arguments: object) -> object:
    """Run bench on two lines with int8; the exception, None without one."""
    common = ("-m", bundle, "--threads", "1", "--device", "cpu", "--precision", "int8", "--max-length", "9", "--repetitions", "1")
    return run_function(bench, *common, *arguments, text="ka lo\tta\nmi\tre\n").exception


def test_rows_run_by_the_engine_that_translate_uses(bundle_folder: Path, tmp_path: Path) -> None:
    try:
        load_library()
    except LibraryError as error:
        pytest.skip(str(error))

    def engines(*arguments: object) -> list[str]:
        assert run(bundle_folder, "--row", "greedy", "--row", "lookup,jacobi", *arguments, "--json", tmp_path / "a.json") is None
        return [row["settings"]["engine"].split(" (")[0] for row in json.loads((tmp_path / "a.json").read_text())["rows"]]

    reference = engines("--engine", "reference")
    assert "native engine" not in reference
    assert engines() == ["native engine", "PyTorch over passes of the native engine"]


def test_the_native_engine_is_never_replaced_if_it_was_asked_for(bundle_folder: Path) -> None:
    error = run(bundle_folder, "--row", "greedy", "--engine", "native", "--precision", "float32")
    assert isinstance(error, UsageError)
    assert "it computes in int8 on a CPU, not in float32" in str(error)
