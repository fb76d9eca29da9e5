"""`specdec translate --sample`: draws of a line depend on the seed, its number and its text, and on nothing else."""

from pathlib import Path

import pytest

from tests import command_line
from tests.command_line import Result, done

LINES = [f"{word} kalo mita resu nope" for word in ("di", "fo", "ta", "re", "su", "no")] * 4


def run(bundle: Path, *arguments: object, text: str = "", command: str = "translate") -> Result:
    return command_line.run(command, "-m", bundle, "--quiet", "--threads", 1, *arguments, text=text.encode())


def test_draws_depend_on_seed_and_number_and_text_alone(bundle_folder: Path, tmp_path: Path) -> None:
    text = "".join(f"{line}\n" for line in LINES)
    expected = done(run(bundle_folder, "--sample", text=text))
    outputs = expected.stdout.splitlines()
    assert len(set(outputs)) > 12  # lines that are equal have draws of their own
    for options in (["--batch-size", 7], ["--decoding", "lookup"], ["--decoding", "gs-jacobi"], ["--seed", 1]):
        assert run(bundle_folder, "--sample", *options, text=text).stdout == expected.stdout, options
    parts = [tmp_path / "first.txt", tmp_path / "second.txt"]
    for path, own in zip(parts, (LINES[:5], LINES), strict=True):
        path.write_text("".join(f"{line}\n" for line in own), encoding="utf-8")
    assert run(bundle_folder, "--sample", *parts).stdout.splitlines() == outputs[:5] + outputs
    assert run(bundle_folder, "--sample", "--seed", 2, text=text).stdout != expected.stdout
    assert run(bundle_folder, "--sample", "--top-k", 1, text=text).stdout == run(bundle_folder, text=text).stdout


def test_a_seed_without_sampling_changes_nothing(bundle_folder: Path) -> None:
    text = "".join(f"{line}\n" for line in LINES[:6])
    assert run(bundle_folder, "--seed", 5, text=text).stdout == run(bundle_folder, text=text).stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--temperature", "0.5"], "--temperature and --top-k: only together with --sample"),
        (["--top-k", "5"], "--temperature and --top-k: only together with --sample"),
        (["--sample", "--beam-size", "3"], "--sample: for decodings that give greedy's output, not for beam"),
        (["--sample", "--temperature", "0"], "greater than or equal to"),
        (["--sample", "--top-k", "0"], "greater than or equal to 1"),
    ],
)
def test_wrong_options_are_usage_errors(bundle_folder: Path, options: list[str], message: str) -> None:
    result = run(bundle_folder, *options, text="kalo\n")
    assert result.exit_code == 2
    assert message in result.output


def test_corrections_are_drawn_too(corrector_folder: Path) -> None:
    text = "".join(f"{line}\n" for line in LINES)
    outputs = [
        run(corrector_folder, "--sample", "--seed", seed, "--min-score=-1000", "--max-edit-ratio", 99, text=text, command="correct").stdout
        for seed in (1, 1, 2)
    ]
    assert outputs[0] == outputs[1] != outputs[2]
