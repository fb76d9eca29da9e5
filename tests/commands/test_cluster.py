"""Commands with --ray: the same output as without, resumed runs, and errors."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from specdec_cli.console.options import with_ray_address
from tests import command_line
from tests.commands.cluster_runs import alone, run
from tests.tables import tables

CASES = tables(__file__)


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    with alone():
        yield


@pytest.fixture
def text(tmp_path: Path, lines: list[str]) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("".join(f"{line} {number}\n" for number in range(3) for line in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize(("given", "read"), CASES.the_address_is_optional)
def test_the_address_is_optional(given: list[str], read: list[str]) -> None:
    assert with_ray_address(given) == read


def test_distill_writes_the_same_files_as_without_a_cluster(cluster: None, bundle_folder: Path, text: Path, tmp_path: Path) -> None:  # noqa: ARG001
    options = ("--beam-size", 2, "--max-length", 12, "--shard-lines", 20, "--threads", 1)
    plain = run("distill", bundle_folder, tmp_path / "plain", text, *options)
    assert plain.returncode == 0, plain.stderr
    (tmp_path / "ray").mkdir()
    for path in (tmp_path / "plain").glob("*"):  # a run without a cluster that was stopped after a shard
        if path.name in ("manifest.json", "shard-00001.tsv", "shard-00001.json"):
            (tmp_path / "ray" / path.name).write_bytes(path.read_bytes())
    ray = run("distill", bundle_folder, tmp_path / "ray", text, *options, "--ray", "--workers", 2)
    assert ray.returncode == 0, ray.stderr
    written = [{path.name: path.read_bytes() for path in (tmp_path / name).glob("*.*")} for name in ("plain", "ray")]
    assert written[0] == written[1]
    assert "resuming after 1 of 4 shards" in ray.stderr
    assert "of earlier runs" in ray.stderr


def test_decoded_files_equal_those_without_a_cluster(cluster: None, bundle_folder: Path, text: Path, tmp_path: Path) -> None:  # noqa: ARG001
    other = tmp_path / "other.txt"
    other.write_text("kalo\n\nmita resu\r\n", encoding="utf-8")
    (tmp_path / "empty.txt").touch()
    terms = tmp_path / "terms"
    terms.write_text("resu\tpe difo\n")
    files = (text, other, tmp_path / "empty.txt")
    options = ("-m", bundle_folder, "--max-length", 6, "--json", "--threads", 1, "--glossary", terms, "--keep", "mita")
    assert run("translate", *files, *options, "--output-dir", tmp_path / "plain").returncode == 0
    ray = run("translate", *files, *options, "--output-dir", tmp_path / "ray", "--ray", "--shard-lines", 30)
    assert ray.returncode == 0, ray.stderr
    assert "ray" not in ray.stderr.lower().replace("time of this run", "")  # nothing that Ray prints
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty.txt", "other.txt", "plain", "ray", "terms", "text.txt"]
    written = [{path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("plain", "ray")]
    assert written[0] == written[1]
    records = [json.loads(line) for line in (tmp_path / "ray" / "other.txt").read_text().splitlines()]
    assert [record["line"] for record in records] == [1, 2, 3]
    assert [[term["target"] for term in record["terms"]] for record in records] == [[], [], ["mita", "pe difo"]]


CODE = """Some words.
value = call(
    engine: Decoder,
    languages: Languages | None = None,
)
Other words here.

"""


@pytest.mark.parametrize("command", ["translate", "correct"])
def test_the_output_is_that_of_the_command_for_every_size_of_shards(
    command: str,
    cluster: None,  # noqa: ARG001
    text: Path,
    tmp_path: Path,
) -> None:
    text.write_text("".join(["This are a test of \n", "the long lines.\n", "We wait.\n", CODE]) * 20, encoding="utf-8")
    assert run(command, text, "-o", tmp_path / "plain").returncode == 0
    assert run(command, text, "-o", tmp_path / "one", "--batch-size", 1).returncode == 0
    for size in (1, 17):
        ray = run(command, text, "-o", tmp_path / "ray", "--ray", "--workers", 2, "--shard-lines", size)
        assert ray.returncode == 0, ray.stderr
        assert (tmp_path / "ray").read_bytes() == (tmp_path / "plain").read_bytes()
    assert (tmp_path / "one").read_bytes() == (tmp_path / "plain").read_bytes()
    assert "    engine: Decoder,\n" in (tmp_path / "plain").read_text()


def test_a_model_that_workers_cannot_load_is_named(cluster: None, bundle_folder: Path, text: Path, tmp_path: Path) -> None:  # noqa: ARG001
    options = ("-m", bundle_folder, "-o", tmp_path / "out", "--decoding", "specdec")
    plain, ray = run("translate", text, *options), run("translate", text, *options, "--ray")
    assert (plain.returncode, ray.returncode) == (2, 2)
    assert ray.stderr == plain.stderr


def test_missing_ray_is_named(bundle_folder: Path, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    result = command_line.run("translate", "-m", bundle_folder, text, "-o", tmp_path / "out", "--ray")
    assert (result.exit_code, "pip install 'specdec[cluster]'" in result.stderr) == (2, True)
    assert not (tmp_path / ".out.shards").exists()


@pytest.mark.parametrize(("options", "words"), CASES.wrong_use_is_named)
def test_wrong_use_is_named(options: list[str], words: str, bundle_folder: Path, text: Path, tmp_path: Path) -> None:
    given = [option.replace("OUT", str(tmp_path / "out")) for option in options]
    result = command_line.run("translate", "-m", bundle_folder, text, *given)
    assert (result.exit_code, words in result.stderr) == (2, True), result.stderr


@pytest.mark.parametrize(("command", "option", "words"), CASES.options_without_effect_on_a_cluster_are_refused)
def test_options_without_effect_on_a_cluster_are_refused(command: str, option: list[str], words: str, text: Path, tmp_path: Path) -> None:
    result = command_line.run(command, text, "-o", tmp_path / "out", "--ray", *option)
    assert (result.exit_code, words in result.stderr) == (2, True), result.stderr


@pytest.mark.parametrize("options", [[], ["-o", "-"]])
def test_corrupting_on_a_cluster_needs_an_output_file(options: list[str], text: Path) -> None:
    result = command_line.run("corrupt", text, "--ray", *options)
    assert (result.exit_code, "give --output\n" in result.stderr) == (2, True), result.stderr
