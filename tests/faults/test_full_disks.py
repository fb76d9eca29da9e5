"""Files that cannot be written completely: exit code 3, a message naming the file, and no incomplete file."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

KILOBYTES = 1
SMALL = ["preset=small", "model.width=32", "model.feed_forward=64", "model.heads=2", "run.max_updates=2", "run.batch_tokens=128"]
CASES = {
    "translate": "translate IN -m BUNDLE -o OUT/x.txt",
    "translate-dir": "translate IN -m BUNDLE --output-dir OUT",
    "correct": "correct IN -m CORRECTOR -o OUT/x.txt",
    "visualize": "visualize kalo -m BUNDLE -o OUT/x.html",
    "bench": "bench TSV -m BUNDLE --row greedy --repetitions 1 --json OUT/x.json",
    "corrupt": "corrupt ENGLISH -o OUT/x.tsv",
    "prepare": "prepare OUT/x TSV --vocabulary-size 300",
    "convert": "convert BUNDLE OUT/x",
    "convert-ctranslate2": "convert BUNDLE OUT/x --to ctranslate2",
    "distill": "distill BUNDLE OUT/x IN --beam-size 1",
    "train-verifier": f"train-verifier OUT/x --data TSV --dev TSV --tokenizer PIECES --set {' --set '.join(SMALL)}",
}
SHORT = ("translate-dir", "visualize", "bench", "corrupt")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, bundle_folder: Path, corrector_folder: Path, lines: list[str]) -> Path:
    """A folder with the inputs of `CASES`."""
    folder = tmp_path_factory.mktemp("disk")
    many = lines * 20
    (folder / "IN").write_text("".join(f"{line}\n" for line in many))
    (folder / "TSV").write_text("".join(f"{line}\t{line}\n" for line in lines))
    (folder / "ENGLISH").write_text("He is here, and she is at home.\n" * 100)
    (folder / "BUNDLE").symlink_to(bundle_folder)
    (folder / "CORRECTOR").symlink_to(corrector_folder)
    (folder / "PIECES").symlink_to(bundle_folder / "tokenizer.model")
    return folder


def run(folder: Path, command: str, before: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command in `folder` from a shell that first runs `before`."""
    words = " ".join(
        [*command.split(), *(["--threads 1"] if command.split()[0] not in ("convert", "prepare", "corrupt", "visualize") else [])]
    )
    return subprocess.run(
        ["bash", "-c", f"{before} exec {sys.executable} -m specdec_cli {words}"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
    )


@pytest.mark.parametrize("name", CASES)
def test_a_full_disk_is_reported(folder: Path, name: str, long: bool, count: Callable[[str], None]) -> None:
    if not long and name not in SHORT:
        pytest.skip("in the long form only")
    shutil.rmtree(folder / "OUT", ignore_errors=True)
    (folder / "OUT").mkdir()
    result = run(folder, CASES[name], f"ulimit -f {KILOBYTES};")
    assert (result.returncode, "Traceback" in result.stderr) == (3, False), result.stderr
    message = next(line for line in result.stderr.splitlines() if line.startswith("specdec: error:"))
    assert "OUT/" in message
    whole = not name.startswith(("translate", "correct", "distill", "train", "prepare"))
    assert not whole or list((folder / "OUT").iterdir()) == []
    count("refused")


def test_lines_before_a_full_disk_are_complete(folder: Path, count: Callable[[str], None]) -> None:
    path = folder / "first.txt"
    result = run(folder, "translate IN -m BUNDLE --max-length 8 -o first.txt --quiet", f"ulimit -f {KILOBYTES};")
    assert (result.returncode, result.stderr) == (3, "specdec: error: first.txt: File too large\n")
    assert path.stat().st_size == 1024 * KILOBYTES
    count("refused")
