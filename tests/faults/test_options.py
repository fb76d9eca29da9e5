"""Numbers out of range, and deeply nested values, are refused with a message."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from converters.marian import read_decoding, read_settings, read_vocabulary
from specdec_cli.errors import ModelError
from tests import command_line

HUGE, LONGER = "1000000000", "99999999999999999999"
DEEP = 100_000
Count = Callable[[str], None]


def run(bundle: Path, *arguments: str) -> command_line.Result:
    text = b"kalo mita\nresu no\n"
    return command_line.run("translate", "-m", bundle, "--threads", "1", "--quiet", *arguments, text=text)


def refused(result: command_line.Result, code: int) -> bool:
    """Whether a command ended with `code` and a message; an unexpected exception is raised."""
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code == code and result.stderr.strip() != ""


@pytest.mark.parametrize(
    "arguments",
    [
        *(("--seed", LONGER), ("--seed", "-1"), ("--threads", HUGE), ("--threads", LONGER), ("--max-line-bytes", "0")),
        *(("--decoding", "beam", "--beam-size", HUGE), ("--decoding", "beam", "--beam-size", LONGER)),
        *(("--decoding", "beam", "--length-penalty", value) for value in ("1e308", "-1e308", "nan", "inf", "-11")),
        *(("--decoding", name, "--block-size", HUGE) for name in ("lookup", "jacobi", "gs-jacobi", "hybrid-jacobi", "input-guided")),
        *(("--block-size", LONGER), ("--decoding", "lookup", "--block-size", "1025"), ("--tolerance", "nan"), ("--top-beta", HUGE)),
    ],
    ids=" ".join,
)
def test_a_number_out_of_range_is_refused(bundle_folder: Path, arguments: tuple[str, ...], count: Count) -> None:
    assert refused(run(bundle_folder, *arguments), 2)
    count("refused")


@pytest.mark.parametrize(
    "arguments",
    [
        *(("--seed", str(2**32 - 1)), ("--memory", LONGER), ("--batch-size", HUGE), ("--max-length", LONGER), ("--max-line-bytes", LONGER)),
        *(("--decoding", name, "--block-size", "1024") for name in ("lookup", "jacobi", "gs-jacobi", "hybrid-jacobi", "input-guided")),
        *(("--decoding", "beam", "--length-penalty", value, "--beam-size", "3") for value in ("10", "-10")),
    ],
    ids=" ".join,
)
def test_a_number_at_the_end_of_its_range_is_accepted(bundle_folder: Path, arguments: tuple[str, ...], count: Count) -> None:
    result = run(bundle_folder, *arguments)
    assert (result.exit_code, result.stdout.count("\n")) == (0, 2)
    count("done")


@pytest.mark.parametrize("name", ["--min-score", "--max-edit-ratio"])
def test_nan_is_refused_as_score(corrector_folder: Path, name: str, count: Count) -> None:
    assert refused(command_line.run("correct", "-m", corrector_folder, name, "nan", text=b"kalo\n"), 2)
    count("refused")


def test_deeply_nested_json_is_refused(bundle_folder: Path, tmp_path: Path, count: Count) -> None:
    for name in bundle_folder.iterdir():
        (tmp_path / name.name).symlink_to(name)
    info = json.loads((bundle_folder / "bundle.json").read_text())
    text = json.dumps(info | {"licence": "HERE"}).replace('"HERE"', "[" * DEEP + "]" * DEEP)
    (tmp_path / "bundle.json").unlink()
    (tmp_path / "bundle.json").write_text(text)
    result = run(tmp_path)
    assert refused(result, 3)
    assert "bundle.json" in result.stderr
    count("refused")


@pytest.mark.parametrize("deep", ["[" * DEEP + "]" * DEEP, "{a=" * DEEP + "1" + "}" * DEEP])
def test_deeply_nested_toml_is_refused(tmp_path: Path, deep: str, count: Count) -> None:
    recipe = tmp_path / "deep.toml"
    recipe.write_text(f"seed = {deep}\n")
    clean = tmp_path / "clean.txt"
    clean.write_text("He is here.\n")
    result = command_line.run("corrupt", "--recipe", recipe, clean)
    assert refused(result, 3)
    assert "deep.toml" in result.stderr
    result = command_line.run("corrupt", "--set", f"seed={deep}", clean)
    assert refused(result, 2)
    count("refused")


def test_deeply_nested_files_of_marian_are_refused(tmp_path: Path, count: Count) -> None:
    deep = "[" * DEEP + "]" * DEEP
    (tmp_path / "decoder.yml").write_text(deep)
    (tmp_path / "vocab.yml").write_text('{"a":' * DEEP)
    for read in (lambda: read_decoding(tmp_path), lambda: read_vocabulary(tmp_path / "vocab.yml"), lambda: read_settings(deep.encode())):
        with pytest.raises(ModelError, match="not readable as"):
            read()
        count("refused")
