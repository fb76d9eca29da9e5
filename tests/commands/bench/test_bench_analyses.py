"""Analyses of outputs, and modes of correction, in `specdec bench`."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from specdec_cli.model.bundle import load_bundle, save_bundle
from tests.command_line import done
from tests.commands.bench.conftest import run


def test_outputs_are_analysed(folder: Path, tmp_path: Path) -> None:
    names = ("significance", "ends", "compounds", "flops")
    arguments = [argument for name in names for argument in ("--analysis", name)]
    result = done(run("-m", folder, "--row", "greedy", "--row", "drafter", *arguments, "--json", tmp_path / "b.json"))
    analyses = json.loads((tmp_path / "b.json").read_text())["analyses"]
    assert list(analyses) == list(names)
    first, second = analyses["significance"]
    assert (first["decoding"], first["p, bootstrap"], second["decoding"]) == ("greedy", None, "drafter")
    assert 0 < second["p, bootstrap"] <= 1 and 0 < second["p, randomisation"] <= 1
    assert [one["tokens"] for one in analyses["ends"]][:2] == ["all", "first 5"]
    assert 0 <= analyses["ends"][0]["1-gram"] <= 1
    greedy, drafter = analyses["flops"]
    assert greedy["drafter"] == 0 < drafter["drafter"] and greedy["times greedy's"] == 1
    assert greedy["encoder"] + greedy["verifier"] == pytest.approx(greedy["GFLOP"])
    assert drafter["GFLOP / speedup"] == pytest.approx(drafter["GFLOP"] / drafter["speedup"])
    assert all(words in result.stdout for words in ("Probability of the difference", "last 5", "split compounds", "in GFLOP"))


def test_rows_of_a_sweep_are_told_apart(folder: Path, tmp_path: Path) -> None:
    sweep = ("--sweep", "block-size=2,3", "--sweep", "beam-size=1,2", "--analysis", "significance", "--json", tmp_path / "b.json")
    done(run("-m", folder, "--row", "specdec", "--row", "beam", *sweep))
    analysed = json.loads((tmp_path / "b.json").read_text())["analyses"]["significance"]
    rows = ["greedy", "specdec, block size 2", "specdec, block size 3", "beam, beam size 1", "beam, beam size 2"]
    assert [one["decoding"] for one in analysed] == rows
    assert analysed[2]["p, randomisation"] == 1.0


def test_the_baseline_of_significance_can_be_chosen(folder: Path, tmp_path: Path) -> None:
    options = ("--row", "greedy", "--row", "drafter", "--row", "beam", "--analysis", "significance", "--json", tmp_path / "b.json")
    done(run("-m", folder, *options, "--sweep", "beam-size=1,2", "--baseline", "beam"))
    analysed = json.loads((tmp_path / "b.json").read_text())["analyses"]["significance"]
    assert [one["decoding"] for one in analysed] == ["beam, beam size 1", "greedy", "drafter", "beam, beam size 2"]
    assert analysed[0]["p, bootstrap"] is None and analysed[1]["p, bootstrap"] == 1.0
    assert "baseline drafter: there is no such row; the rows are greedy, beam" in str(
        run("-m", folder, "--row", "greedy", "--row", "beam", "--analysis", "significance", "--baseline", "drafter").exception
    )


def test_analyses_that_cannot_be_done_are_refused(tmp_path: Path) -> None:
    assert "a baseline is for the analysis significance" in str(run("--analysis", "ends", "--baseline", "greedy").exception)
    assert "known are significance, ends, compounds, flops" in str(run("--analysis", "flips").exception)
    (tmp_path / "a.txt").write_text("ka\n")
    assert "analysis ends needs text with one reference for each line" in str(
        run("--input", tmp_path / "a.txt", "--analysis", "ends").exception
    )


def test_corrections_are_scored_by_characters(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("kalomi\tkalo\tkalomi\nno\tno\n")
    options = ("--task", "correct", "--score", "characters", "--row", "greedy", "--analysis", "flops", "--json", tmp_path / "b.json")
    result = done(run("-m", folder, tmp_path / "a.tsv", *options))
    (row,) = json.loads((tmp_path / "b.json").read_text())["rows"]
    assert all(0 <= row[name] <= 100 for name in ("precision", "recall", "f05")) and "gleu" not in row
    assert "GFLOP" in result.stdout


def test_the_modes_of_a_corrector_are_compared(folder: Path, tmp_path: Path) -> None:
    corrector = load_bundle(folder)
    corrector.info = replace(corrector.info, task="correct", modes={"careful": (0, 0), "balanced": (-1000, -1000)})
    save_bundle(corrector, tmp_path / "corrector")
    (tmp_path / "a.m2").write_text("S ka lo mi .\n\nS no pe\n")
    done(
        run(
            "-m",
            tmp_path / "corrector",
            tmp_path / "a.m2",
            "--row",
            "input-guided",
            "--sweep",
            "mode=careful,balanced",
            "--json",
            tmp_path / "b",
        )
    )
    careful, balanced = (row["settings"] for row in json.loads((tmp_path / "b").read_text())["rows"] if row["decoding"] == "input-guided")
    assert (careful["mode"], careful["min_score"], balanced["mode"], balanced["min_score"]) == ("careful", 0, "balanced", -1000)
