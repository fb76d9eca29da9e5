"""Commands that were killed at any moment (SIGKILL) give the same result when they are repeated."""

import hashlib
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.forked import run_forked, start_forked, wait_for_session

SETTINGS = {
    "verifier": ["preset=small", "model.width=32", "model.feed_forward=64", "model.heads=2", "model.encoder_layers=1"],
    "drafter": ["drafter.layers=1", "drafter.feed_forward=64", "drafter.max_block=4"],
}
RUN = ["run.batch_tokens=128", "run.evaluate_every=4", "run.max_updates=24", "run.precision=32-true"]
COMMANDS = {
    "convert": "convert BUNDLE OUT/x",
    "train-verifier": "train-verifier OUT/x --data TSV --dev TSV --tokenizer PIECES --threads 1 --device cpu",
    "train-drafter": "train-drafter OUT/x -m BUNDLE --data TSV --dev TSV --threads 1 --device cpu",
    "distill": "distill BUNDLE OUT/x IN --beam-size 1 --max-length 20 --shard-lines 20 --threads 1",
    "prepare": "prepare OUT/x TSV --vocabulary-size 300",
    "corrupt": "corrupt ENGLISH -o OUT/x.tsv --processes 2",
    "bench": "bench TSV -m BUNDLE --row greedy --repetitions 1 --threads 1 --json OUT/x.json",
}
RESULTS = ("*.safetensors", "bundle.json", "distilled.tsv", "train.tsv", "x.tsv", "tokenizer.model")
LONG = dict.fromkeys(COMMANDS, 12) | {"bench": 3}
"""The number of moments at which each command is killed in the long form; bench writes nothing before its end."""
SHORT = ("convert", "train-verifier")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, bundle_folder: Path, lines: list[str]) -> Path:
    """A folder with the inputs of `COMMANDS`."""
    folder = tmp_path_factory.mktemp("kill")
    (folder / "IN").write_text("".join(f"{line} {number}\n" for number in range(8) for line in lines))
    (folder / "TSV").write_text("".join(f"{line}\t{line}\n" for line in lines))
    (folder / "ENGLISH").write_text("He is here, and she is at home.\n" * 2000)
    (folder / "BUNDLE").symlink_to(bundle_folder)
    (folder / "PIECES").symlink_to(bundle_folder / "tokenizer.model")
    run_forked(["--version"], folder)  # the first run has a slow start
    return folder


def words(name: str, output: str) -> list[str]:
    """The arguments of a command of `COMMANDS` that writes to `output`."""
    changes = [*SETTINGS[name.removeprefix("train-")], *RUN] if name.startswith("train-") else []
    return [*COMMANDS[name].replace("OUT", output).split(), *(part for change in changes for part in ("--set", change))]


def results(folder: Path) -> dict[str, str]:
    """Digests of the files that a command has written, by name, without files that contain times."""
    paths = sorted({path for pattern in RESULTS for path in folder.rglob(pattern)})
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_killed_command_can_be_repeated(folder: Path, name: str, long: bool, count: Callable[[str], None]) -> None:
    if not long and name not in SHORT:
        pytest.skip("in the long form only")
    began = time.monotonic()
    code, errors = run_forked(words(name, f"whole-{name}"), folder)
    assert code == 0, errors
    whole, expected = time.monotonic() - began, results(folder / f"whole-{name}")
    assert expected or name == "bench"
    moments = LONG[name] if long else 1
    for moment in range(moments):
        command = words(name, f"{name}-{moment}")
        process = start_forked(command, folder)
        time.sleep(whole * (moment + 0.5) / moments)
        process.kill()
        process.join()
        assert process.pid is not None
        wait_for_session(process.pid)
        code, errors = run_forked(command, folder)
        # A command that had finished may refuse to replace its output.
        done = code == 0 or "--force" in errors
        assert done and "Traceback" not in errors, errors
        output = folder / f"{name}-{moment}"
        assert results(output) == expected
        assert [path for path in output.iterdir() if "partial" in path.name] == []
        count("done" if code == 0 else "refused")
