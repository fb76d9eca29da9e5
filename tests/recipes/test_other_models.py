"""A drafter for a model of the Hugging Face hub: convert it, decode text by it, train a drafter on that output, compare decodings."""

import json
from pathlib import Path

import pytest

pytest.importorskip("transformers", reason="transformers is not installed: pip install -e '.[test]'")
from tests.conftest import make_lines
from tests.converters.huggingface import marian
from tests.recipes.test_recipes_run import BLOCK, RUN, run


def test_a_drafter_is_trained_for_a_model_of_the_hub(tmp_path: Path) -> None:
    folders = {name: tmp_path / name for name in ("theirs", "bundle", "outputs", "model")}
    folders["theirs"].mkdir()
    marian(folders["theirs"])
    text, dev = tmp_path / "mono.en", tmp_path / "dev.tsv"
    lines = make_lines(24)
    text.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    dev.write_text("".join(f"{line}\t{line}\n" for line in lines[:6]), encoding="utf-8")
    run("convert", folders["theirs"], folders["bundle"])
    run("distill", folders["bundle"], folders["outputs"], text, "--beam-size", 1, "--max-length", 12, "--threads", 1, "--device", "cpu")
    data = folders["outputs"] / "distilled.tsv"
    assert 0 < len(data.read_text(encoding="utf-8").splitlines()) <= len(lines)
    changes = [part for change in (*RUN, *BLOCK) for part in ("--set", change)]
    machine = ["--threads", 1, "--device", "cpu"]
    run("train-drafter", folders["model"], "-m", folders["bundle"], "--data", data, "--dev", dev, *machine, *changes)
    result = tmp_path / "result.json"
    rows = ["--row", "greedy", "--row", "specdec", "--block-size", 3, "--row", "lookup"]
    run("bench", dev, "-m", folders["model"], *rows, "--repetitions", 1, "--max-length", 12, *machine, "--json", result)
    found = json.loads(result.read_text(encoding="utf-8"))["rows"]
    assert [row["decoding"] for row in found] == ["greedy", "specdec", "lookup"]
    assert all(same == total == 6 for same, total in (row["identical"] for row in found))
