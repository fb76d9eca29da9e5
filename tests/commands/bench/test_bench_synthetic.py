"""`specdec bench --synthetic`, from the command line to tables, with tiny models."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from specdec_cli.benchmark import geometries
from specdec_cli.benchmark.geometries import GEOMETRIES, REAL_SIZES, Geometry
from specdec_cli.commands.bench import bench
from specdec_cli.errors import SpecdecError, UsageError
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.transformer import Transformer
from tests.command_line import Result, done, run_function

SHAPE = TransformerConfig(64, width=64, feed_forward=64, heads=2, encoder_layers=1, decoder_layers=2, tied_output=False)
BASE = Geometry("base", SHAPE, "specdec", 11, 2, ("ctranslate2-greedy",), block_size=8, drafter_layers=1)
SMALL = Geometry("small", replace(SHAPE, tied_output=True), "greedy", 6, 6, ("ctranslate2-greedy:int8",), batches=(1, 12))
BIG = Geometry("big", SHAPE, "input-guided", 12, 1, ("ctranslate2-greedy", "ctranslate2-beam"))


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replaces the measured geometries by tiny ones."""
    monkeypatch.setattr(geometries, "GEOMETRIES", (BASE, BIG))
    monkeypatch.setattr(geometries, "REAL_SIZES", (SMALL,))


def run(*arguments: object) -> Result:
    return run_function(bench, "--synthetic", "--threads", "1", "--device", "cpu", "--repetitions", "1", *arguments)


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_two_geometries_are_reported_as_tables_and_json(precision: str, tmp_path: Path) -> None:
    result = done(run("--markdown", "--profile", "--precision", precision, "--beam-size", 3, "--json", tmp_path / "s.json"))
    for words in ("Random weights", "recorded", "no model", "5.5 tokens a round", "blocks of 8", "12 tokens a round", "drafter", "8 of 8"):
        assert words in result.stdout
    assert "| specdec, recorded | " + precision in result.stdout and "| input-guided, recorded | " + precision in result.stdout

    record = json.loads((tmp_path / "s.json").read_text())
    assert record["input"] == {"name": "random tokens", "lines": 8, "sentences": 8}
    names = [(row["settings"]["geometry"], row["decoding"]) for row in record["rows"]]
    drafting = [("base", "greedy"), ("base", "specdec"), ("big", "greedy"), ("big", "input-guided")]
    assert [name for name in names if "ctranslate2" not in name[1]] == drafting
    rows = dict(zip(names, record["rows"], strict=True))
    for (geometry, decoding), tokens in zip(drafting, (1.0, 5.5, 1.0, 12.0), strict=True):
        row = rows[geometry, decoding]
        assert (row["tokens_per_round"], row["identical"]) == (tokens, [8, 8])
        assert (row["settings"]["precision"], row["settings"]["recorded"]) == (precision, tokens > 1)
    beam = rows["big", "ctranslate2-beam"]
    assert (beam["settings"]["beam_size"], beam["settings"]["precision"]) == (3, beam["settings"]["compute_type"])
    assert beam["tokens_per_second"] > 0 and beam["bleu"] is None
    assert record["synthetic"]["base"]["speedup_vs"].keys() == {"greedy", "ctranslate2-greedy"}
    assert record["synthetic"]["big"]["tokens_per_round"] == 12.0


def test_the_size_of_a_model_is_decoded_greedily_in_batches_with_memory_and_start(tmp_path: Path) -> None:
    result = done(run("--markdown", "--geometry", "small", "--json", tmp_path / "s.json"))
    header = next(line for line in result.stdout.splitlines() if line.startswith("| decoding"))
    for name in ("batch size", "tokens/s", "speedup vs ctranslate2-greedy", "peak memory, MB", "start, s"):
        assert f"| {name} |" in header
    record = json.loads((tmp_path / "s.json").read_text())
    assert record["input"]["lines"] == 12
    found = [(row["decoding"], row["settings"]["batch_size"]) for row in record["rows"]]
    assert found == [(name, size) for name in ("greedy", "ctranslate2-greedy") for size in (1, 12)]
    assert all(row["peak_memory_mb"] > 10 and row["settings"]["start_seconds"] > 0 for row in record["rows"])
    assert record["synthetic"]["small"]["speedup_vs"].keys() == {"1", "12"}
    assert (record["synthetic"]["small"]["length"], record["rows"][1]["identical"]) == (6, [12, 12])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a.tsv"], "--synthetic uses random text and a random model; FILE cannot be given with it"),
        (["--row", "greedy", "-m", "en-de"], "--row, --model cannot be given with it"),
        (["--max-length", 9], "--max-length cannot be given with it"),
        (["--block-size", 4], "block size 4: 5.5 tokens a round need larger blocks"),
        (["--geometry", "huge"], "geometry huge: not known; known are base, big, small"),
        (["--json", "no/a"], "no/a: its folder does not exist"),
    ],
)
def test_options_that_synthetic_benchmarks_do_not_have_are_refused(arguments: list[object], words: str) -> None:
    result = run(*arguments)
    assert isinstance(result.exception, UsageError)
    assert words in str(result.exception)


def test_synthetic_output_that_differs_from_greedys_fails_after_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    differing = property(lambda one: [2] if one.row.drafts else [])
    monkeypatch.setattr("specdec_cli.benchmark.results.Measured.differing_lines", differing)
    monkeypatch.setattr(geometries, "GEOMETRIES", (replace(BIG, opponents=()),))
    result = run("--precision", "float32")
    assert isinstance(result.exception, SpecdecError) and "row input-guided: 7 of 8 lines equal those of greedy" in str(result.exception)
    assert "7 of 8" in result.stdout


def test_the_measured_geometries_have_the_published_shapes() -> None:
    assert [(g.shape.width, g.shape.feed_forward, g.shape.heads, g.shape.vocabulary_size) for g in GEOMETRIES] == [
        (512, 2048, 8, 32_000),
        (1024, 4096, 16, 32_000),
        (512, 2048, 8, 58_000),
        (512, 2048, 8, 58_000),
    ]
    # The published numbers of weights are 75, 237, 615, 406, 484 and 611 million: those of biases and norms are not counted here.
    assert {g.name: (g.shape.width, g.shape.decoder_layers, g.shape.fewest_weights // 10**6) for g in REAL_SIZES} == {
        "opus-mt": (512, 6, 73),
        "opus-mt-tc-big": (1024, 6, 235),
        "nllb-600m": (1024, 12, 614),
        "bart-large": (1024, 12, 403),
        "m2m-418m": (1024, 12, 483),
        "mbart-50": (1024, 12, 608),
        "flan-t5-base": (768, 12, 222),
        "flan-t5-large": (1024, 24, 750),
    }
    # Of Flan-T5 with its output projection, all weights are counted; T5 has biases of 32 buckets of distances in each of two tables.
    for geometry, count in zip(REAL_SIZES[-2:], (247_577_856, 783_150_080), strict=True):
        with torch.device("meta"):
            weights = sum(weight.numel() for weight in Transformer(geometry.shape).parameters())
        heads, distances = geometry.shape.heads, 3 * geometry.shape.reach + 2
        assert weights == count + heads * (distances - 2 * 32)


def test_a_geometry_without_a_synthetic_benchmark_is_refused() -> None:
    result = run_function(bench, "--geometry", "opus-mt")
    assert isinstance(result.exception, UsageError) and "--geometry is for --synthetic" in str(result.exception)
