"""A drafter for a model of the Hugging Face hub: convert it, decode text by it, train a drafter on that output, compare decodings."""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("transformers", reason="transformers is not installed: pip install -e '.[test]'")
pytest.importorskip("ctranslate2", reason="ctranslate2 is not installed: pip install -e '.[test]'")
from tests.conftest import make_lines
from tests.converters.huggingface import marian
from tests.recipes.test_recipes_run import BLOCK, RUN, run


@pytest.mark.long
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

    # One run measures the model with the drafter and the model of the hub, each with the rows that it has.
    both = ["greedy", "lookup", "ctranslate2-greedy"]
    transformers = [f"transformers-{decoding}" for decoding in ("greedy", "beam", "lookup")]
    asked = [part for row in ("specdec", "drafter", *both, *transformers) for part in ("--row", row)]
    options = ["--block-size", 3, "--repetitions", 1, "--max-length", 12, "--precision", "float32", *machine]
    models, result = ["-m", folders["model"], "-m", folders["theirs"]], tmp_path / "bench.json"
    run("bench", dev, *models, *asked, *options, "--json", result)
    found_rows = json.loads(result.read_text(encoding="utf-8"))["rows"]
    rows: dict[str, dict[str, dict[str, Any]]] = {str(folders["model"]): {}, str(folders["theirs"]): {}}
    for row in found_rows:
        rows[row["model"]][row["decoding"]] = row
    ours, theirs = rows.values()
    assert (set(ours), set(theirs)) == ({"specdec", "drafter", *both}, {*both, *transformers})
    for found in (ours, theirs):
        assert all(row["tokens_per_second"] > 0 for row in found.values())
        exact = [row["identical"] for name, row in found.items() if "beam" not in name and name != "drafter"]
        assert exact == [[6, 6]] * len(exact)  # other toolkits, too, have the tokens of greedy decoding
    assert [ours[name]["bleu"] for name in both] == [theirs[name]["bleu"] for name in both]
