"""`specdec corrupt` from end to end."""

import gzip
import lzma
import re
from pathlib import Path

import pytest

from specdec_cli.corruption.corrupter import CorruptionRecipe
from specdec_cli.corruption.run import Plan
from specdec_cli.text.io.lines import Line
from specdec_cli.work.cluster import CorruptJob
from tests import command_line
from tests.command_line import Result, done

LINES = [
    "The students have written several interesting letters to their teachers.",
    "",
    "She doesn't know where the children went yesterday, because nobody told her.",
    'In 1990, "many" people read http://example.org/a?b=c  twice.',
]
FILLED = [line for line in LINES if line]


def run(*arguments: object, text: str | bytes | None = None) -> Result:
    return command_line.run("corrupt", *arguments, text=text)


def pairs(text: str) -> list[tuple[str, str]]:
    return [(corrupted, clean) for corrupted, clean in (line.split("\t") for line in text.removesuffix("\n").split("\n"))]


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    path = tmp_path / "clean.txt"
    path.write_text("".join(line + "\n" for line in LINES))
    return path


def test_corrupt_reads_stdin_and_writes_pairs() -> None:
    result = done(run(text="".join(line + "\r\n" for line in LINES)))
    made = pairs(result.stdout)
    assert [clean for _, clean in made] == FILLED
    assert re.search(r"blank lines, left out │ +1 ", result.stderr)
    assert any(corrupted != clean for corrupted, clean in made)
    assert "clean pairs" in result.stderr
    assert run("-", "--quiet", text="\n".join(LINES)).stdout == result.stdout


def test_seed_recipe_and_copies_determine_the_output(plain: Path) -> None:
    result = run(plain, "--copies", 3, "--seed", 4, "--quiet")
    assert (result.exit_code, result.stderr) == (0, "")
    made = pairs(result.stdout)
    assert [clean for _, clean in made] == [line for line in FILLED for _ in range(3)]
    assert pairs(run(plain, "--seed", 4).stdout) == made[::3]
    assert run(plain, "--seed", 5, "--copies", 3).stdout != result.stdout
    assert all(corrupted == clean for corrupted, clean in pairs(run(plain, "--set", "clean=1").stdout))


def test_corrupt_reads_a_column(tmp_path: Path) -> None:
    path = tmp_path / "clean.tsv.xz"
    path.write_bytes(lzma.compress("".join(f"web\tnone\t{line}\n" for line in LINES).encode()))
    assert [clean for _, clean in pairs(run(path).stdout)] == FILLED
    assert [clean for _, clean in pairs(run(path, "--column", 2).stdout)] == ["none"] * 4
    result = run(path, "--column", 4)
    assert result.exit_code == 3
    assert f"{path}, line 1: 3 tab-separated fields" in result.stderr


def test_workers_of_a_cluster_make_no_pairs_of_blank_lines() -> None:
    lines = [Line(number, text, "\n", f"line {number}") for number, text in enumerate(LINES, start=1)]
    with CorruptJob(Plan(CorruptionRecipe(), copies=2), None).open() as work:
        output = work(lines, 1)
    assert [[clean for _, clean in pairs(text)] if text else [] for text in output.texts] == [[line] * 2 if line else [] for line in LINES]
    assert (output.counts["pairs"], output.counts["blank"]) == (6, 1)


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
def test_files_are_written_compressed_or_plain(tmp_path: Path, plain: Path, suffix: str) -> None:
    expected = run(plain).stdout
    path = tmp_path / "new" / f"pairs.tsv{suffix}"
    path.parent.mkdir()
    result = run(plain, "-o", path)
    assert (result.exit_code, result.stdout) == (0, "")
    packed = path.read_bytes()
    assert {".gz": gzip.decompress, ".xz": lzma.decompress}.get(suffix, bytes)(packed).decode() == expected
    assert run(plain, "-o", path).exit_code == 0
    assert path.read_bytes() == packed
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_an_unreadable_line_creates_no_file(tmp_path: Path) -> None:
    bad = tmp_path / "bad.txt"
    bad.write_bytes(b"It is fine.\nIt is \xff not.\n")
    result = run(bad, "-o", tmp_path / "out.tsv")
    assert result.exit_code == 3
    assert f"{bad}, line 2: not valid UTF-8" in result.stderr
    assert not (tmp_path / "out.tsv").exists()
    to_stdout = run(bad)
    assert to_stdout.exit_code == 3
    assert pairs(to_stdout.stdout)[0][1] == "It is fine."


def test_input_files_are_not_overwritten(plain: Path) -> None:
    result = run(plain, "-o", plain)
    assert result.exit_code == 2
    assert "both input and output" in result.stderr
    assert plain.read_text().splitlines() == LINES


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--set", "rates.comma_drpo=1"], 2, "comma_drpo"),
        (["--recipe", "nix"], 2, "en-gec-corrupt"),
        (["--set", "clean"], 2, "key=value"),
        (["nix.txt"], 3, "nix.txt: no such file"),
        (["-o", "no/out.tsv"], 2, "no/out.tsv: its folder does not exist"),
    ],
)
def test_wrong_use_is_explained(arguments: list[str], code: int, message: str) -> None:
    result = run(*arguments, text="It is fine.\n")
    assert result.exit_code == code
    assert message in result.stderr
