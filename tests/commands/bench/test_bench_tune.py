"""`specdec bench --tune`: the chosen settings, and their place in bundle.json."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from specdec_cli.benchmark.results import Measured
from specdec_cli.benchmark.rows import Row
from specdec_cli.benchmark.tune import choose
from specdec_cli.commands.bench import bench
from specdec_cli.decoding.options import DecodingOptions, Tolerant, resolve
from specdec_cli.engines.reference import Engine
from specdec_cli.errors import InputError, SpecdecError, UsageError
from specdec_cli.model.bundle import Bundle, load_bundle, save_bundle
from specdec_cli.model.drafter import BlockDrafter
from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.pipeline.translator import LineTranslator
from tests.command_line import Result, done, run_function
from tests.fakes import tiny_heads

STRICT_AND_LAX = ("--sweep", "top-beta=1,300", "--sweep", "tolerance=0,1000")
PRESETS = {"own": [4, 2.0], "high-quality": [9, 9.0]}


@pytest.fixture(autouse=True)
def few_lines_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("specdec_cli.benchmark.tune.LEAST_LINES", 2)


@pytest.fixture
def folder(bundle: Bundle, tmp_path: Path) -> Path:
    """A bundle with presets and an untrained drafter."""
    torch.manual_seed(0)
    drafter = BlockDrafter(DrafterConfig(layers=1, feed_forward=64, max_block=4), bundle.verifier)
    presets = {name: (top_beta, tolerance) for name, (top_beta, tolerance) in PRESETS.items()}
    info = replace(bundle.info, presets=presets, licence="ours")  # type: ignore[arg-type]
    save_bundle(replace(bundle, info=info, drafter=drafter), path := tmp_path / "drafting")
    return path


@pytest.fixture
def table(bundle: Bundle, lines: list[str], tmp_path: Path) -> Path:
    """Lines with their greedy output as reference, so that no other output has a higher BLEU."""
    engine = Engine(bundle, resolve(DecodingOptions(decoding="greedy", max_length=12), bundle))
    texts = [one.text for one in LineTranslator(engine, bundle.tokenizer).translate(lines)]
    (path := tmp_path / "dev.tsv").write_text("".join(f"{line}\t{text}\n" for line, text in zip(lines, texts, strict=True)))
    return path


def tune(*arguments: object, text: str = "") -> Result:
    common = ("--tune", "--threads", "1", "--device", "cpu", "--precision", "float32", "--max-length", "12")
    return run_function(bench, *common, *arguments, text=text)


def described(folder: Path) -> dict[str, Any]:
    values: dict[str, Any] = json.loads((folder / "bundle.json").read_text())
    return values


@pytest.mark.parametrize("batch", [1, 4])
def test_tune_writes_the_best_settings_and_changes_nothing_else(batch: int, folder: Path, table: Path, tmp_path: Path) -> None:
    before = described(folder)
    result = done(tune("-m", folder, table, "--markdown", *STRICT_AND_LAX, "--json", tmp_path / "a.json", "--batch-size", batch))

    presets = described(folder)["presets"]
    assert described(folder) == before | {"presets": presets}
    assert presets["own"] == [4, 2.0]
    assert presets["high-quality"] == [1, 0.0]
    assert presets["high-efficiency"] != [300, 1000.0]
    assert load_bundle(folder).info.presets["high-quality"] == (1, 0.0)

    cells = [line.strip("| ").split(" | ") for line in result.stdout.splitlines() if line.startswith("| ")]
    head, _, *rows = cells
    assert head[:6] == ["decoding", "chosen for", "top beta", "tolerance", "BLEU", "chrF"]
    assert [row[0] for row in rows] == ["greedy", "specdec", *["specdec++"] * 4]
    assert [row[4] for row in rows[:3]] == ["100.00"] * 3
    assert rows[2][1:4] in (["high-quality, high-efficiency", "1", "0.0"], ["high-quality", "1", "0.0"])
    assert f"Written to {folder / 'bundle.json'}:" in result.stdout
    assert "--preset high-quality: top-1, tolerance 0.0 (before: top-9, tolerance 9.0)" in result.stdout
    assert "(not set before)" in result.stdout

    record = json.loads((tmp_path / "a.json").read_text())
    assert record["presets"] == {name: presets[name] for name in ("high-quality", "high-efficiency")}
    assert [(row["settings"]["top_beta"], row["settings"]["tolerance"]) for row in record["rows"][2:]] == [
        (1, 0.0),
        (1, 1000.0),
        (300, 0.0),
        (300, 1000.0),
    ]


def test_a_swept_block_size_is_stored(folder: Path, table: Path) -> None:
    result = done(tune("-m", folder, table, "--markdown", *STRICT_AND_LAX, "--sweep", "block-size=1,4"))
    size = described(folder)["block_size"]
    assert size in (1, 4)
    assert f"--block-size {size} (before: not set)" in result.stdout
    head = next(line for line in result.stdout.splitlines() if line.startswith("| decoding"))
    assert "| tolerance | block size | BLEU" in head and "| tokens/s |" in head


def test_the_block_size_is_that_of_the_fastest_setting() -> None:
    def measurement(size: int, tokens: float, speed: float) -> Measured:
        row = Row("specdec++").changed(block_size=size, top_beta=3, tolerance=1.0)
        return Measured(
            row,
            {"top_beta": 3, "tolerance": 1.0},
            (),
            quality={"bleu": 30.0},
            numbers={"tokens_per_round": tokens, "tokens_per_second": speed},
        )

    greedy = Measured(Row("greedy"), {}, (), quality={"bleu": 30.0}, numbers={"tokens_per_round": 1.0, "tokens_per_second": 1.0})
    chosen = choose([greedy, measurement(5, 2.0, 9.0), measurement(25, 4.0, 3.0)])
    assert {result.row.options.block_size for result in chosen.values()} == {5}


def test_presets_of_heads_are_used_by_blockwise(bundle: Bundle, table: Path, tmp_path: Path) -> None:
    save_bundle(replace(bundle, drafter=tiny_heads(bundle.verifier)), folder := tmp_path / "heads")
    done(tune("-m", folder, table, "--limit", 2, *STRICT_AND_LAX, "--json", tmp_path / "a.json", "--repetitions", 2))
    record = json.loads((tmp_path / "a.json").read_text())
    rows = record["rows"]
    assert record["environment"]["repetitions"] == 2
    assert [row["decoding"] for row in rows] == ["greedy", *["blockwise"] * 5]
    assert rows[1]["settings"]["preset"] == "exact" and "top_beta" not in rows[1]["settings"]
    assert rows[1]["identical"] == [2, 2]
    assert [(row["settings"]["top_beta"], row["settings"]["tolerance"]) for row in rows[2:]] == [(1, 0), (1, 1000), (300, 0), (300, 1000)]
    top_beta, tolerance = described(folder)["presets"]["high-quality"]
    loaded = load_bundle(folder)
    assert resolve(DecodingOptions(decoding="blockwise", preset="high-quality"), loaded).acceptance == Tolerant(top_beta, tolerance)


def test_equal_bleu_over_the_default_grid_gives_equal_presets(folder: Path) -> None:
    result = done(tune("-m", folder, "--limit", 2, text="ka lo mi\tx\nno pe\tx\nso\tx\n"))
    assert result.stdout.count("specdec++") == 18
    assert "2 lines, 2 sentences\n" in result.stdout
    presets = described(folder)["presets"]
    assert presets["high-quality"] == presets["high-efficiency"]


def test_nothing_is_written_if_every_setting_loses_too_much_quality(folder: Path, table: Path, tmp_path: Path) -> None:
    before = described(folder)
    result = tune("-m", folder, table, "--sweep", "top-beta=300", "--sweep", "tolerance=1000", "--json", tmp_path / "a.json")
    assert type(result.exception) is SpecdecError and "every setting loses more than 0.5 BLEU" in str(result.exception)
    assert "specdec++" in result.stdout
    assert described(folder) == before
    assert json.loads((tmp_path / "a.json").read_text())["presets"] == {}


def test_too_few_lines_write_no_preset(folder: Path, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("specdec_cli.benchmark.tune.LEAST_LINES", 100)
    before = described(folder)
    result = tune("-m", folder, table, "--limit", 3, "--sweep", "top-beta=1", "--sweep", "tolerance=0")
    assert "--tune: 3 lines, too few to choose presets (at least 100)" in str(result.exception)
    assert "specdec++" in result.stdout
    assert described(folder) == before


@pytest.mark.parametrize(
    ("arguments", "text", "kind", "words"),
    [
        (["--row", "greedy"], "ka\tlo\n", UsageError, "chooses its rows"),
        (["--profile"], "ka\tlo\n", UsageError, "chooses its rows"),
        (["--analysis", "ends"], "ka\tlo\n", UsageError, "chooses its rows"),
        (["--beam-size", "4"], "ka\tlo\n", UsageError, "--beam-size is for rows of beam search"),
        (["--sweep", "threads=1,2"], "ka\tlo\n", UsageError, "only top-beta, tolerance and block-size are tuned"),
        (["--sweep", "block-size=auto,2"], "ka\tlo\n", UsageError, "a bundle stores a number, not auto"),
        (["--task", "correct"], "ka\tlo\n", UsageError, "for the task translate, not for correct"),
        ([], "", UsageError, "needs dev data"),
        ([], "ka\tlo\nmi\n", InputError, "stdin, line 2: 1 tab-separated field, expected 2"),
        ([], "\t\n", InputError, "stdin: no text"),
    ],
)
def test_options_that_tune_does_not_have_are_refused(
    arguments: list[str], text: str, kind: type[Exception], words: str, folder: Path
) -> None:
    result = tune("-m", folder, *arguments, text=text)
    assert type(result.exception) is kind
    assert words in str(result.exception)


def test_tune_requires_references_a_drafter_and_a_bundle(folder: Path, bundle_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "a.src").write_text("ka lo\n")
    assert "needs dev data with references" in str(tune("-m", folder, "--input", tmp_path / "a.src").exception)
    result = tune("-m", bundle_folder, text="ka\tlo\n")
    assert isinstance(result.exception, UsageError) and "has no drafter" in str(result.exception)
    assert "name it with --model" in str(tune(text="ka\tlo\n").exception)


def test_a_read_only_bundle_is_refused_before_decoding(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    result = tune("-m", folder, text="ka\tlo\n")
    assert isinstance(result.exception, UsageError)
    assert f"{folder / 'bundle.json'} cannot be written (no permission); copy the folder" in str(result.exception)


def test_a_full_disk_is_reported_by_name(folder: Path, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("specdec_cli.benchmark.tune.write_json", full)
    result = tune("-m", folder, table, "--limit", 2, "--sweep", "top-beta=2", "--sweep", "tolerance=0")
    assert isinstance(result.exception, UsageError)
    assert f"{folder / 'bundle.json'} cannot be written (No space left on device)" in str(result.exception)


def make_result(bleu: float, tokens: float, top_beta: int | None = None, tolerance: float | None = None) -> Measured:
    row = Row("greedy" if top_beta is None else "specdec++").changed(top_beta=top_beta, tolerance=tolerance)
    return Measured(row, {}, (), quality={"bleu": bleu}, numbers={"tokens_per_round": tokens})


@pytest.mark.parametrize(
    ("measured", "quality", "efficiency"),
    [
        # Half a point below greedy is within the limit.
        ([(30.1, 3.0), (29.5, 3.5), (29.49, 4.0)], 0, 1),
        # The faster of equal BLEU, the better of equal rounds, the first of equals.
        ([(30.0, 3.0), (30.0, 3.2), (29.9, 3.2)], 1, 1),
        ([(30.001, 3.0), (30.004, 3.0)], 0, 0),
        ([(31.0, 4.0), (30.0, 3.0)], 0, 0),
        ([(29.0, 4.0), (29.4, 3.0)], None, None),
    ],
)
def test_the_best_settings_within_the_limits_are_chosen(
    measured: list[tuple[float, float]], quality: int | None, efficiency: int | None
) -> None:
    results = [make_result(bleu, tokens, 2, place) for place, (bleu, tokens) in enumerate(measured)]
    chosen = choose([make_result(30.0, 1.0), *results])
    if quality is None or efficiency is None:
        assert chosen == {}
    else:
        assert chosen["high-quality"] is results[quality]
        assert chosen["high-efficiency"] is results[efficiency]
