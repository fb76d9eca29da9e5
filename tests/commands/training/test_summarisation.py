"""Summarisation of long texts, from training to scores of decodings."""

import json
import random
from pathlib import Path

import pytest

from specdec_cli.model.bundle import load_bundle
from specdec_cli.text.tokenize.sentencepiece import Subwords
from tests.command_line import done, run
from tests.commands.training.conftest import RUN, SMALL, settings

LONGEST = 1024


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory, tokenizer: Subwords, lines: list[str]) -> Path:
    """Texts of 200 to 1,024 tokens; the summary of each is its first words and its last word."""
    generator, rows = random.Random(0), []
    words = sorted({word for line in lines for word in line.split()})
    for number in range(16):
        length, text = (LONGEST if number == 0 else generator.randint(200, LONGEST)), [generator.choice(words)]
        while len(tokenizer.encode(" ".join([*text, words[0]]))) < length:
            text.append(generator.choice(words))
        rows.append(f"{' '.join(text)}\t{' '.join([*text[:3], text[-1]])}\n")
    path = tmp_path_factory.mktemp("texts") / "summaries.tsv"
    path.write_text("".join(rows), encoding="utf-8")
    longest = max(len(tokenizer.encode(row.split("\t")[0])) for row in rows)
    assert LONGEST - 20 < longest < LONGEST
    return path


def test_long_texts_are_summarised(texts: Path, tokenizer: Subwords, tmp_path: Path) -> None:
    data, one = ("--data", texts, "--dev", texts), ("--threads", 1, "--device", "cpu")
    long = [*SMALL, *RUN, f"model.max_positions={LONGEST}", "run.max_updates=4", "run.batch_tokens=4096"]
    verifier = ("train-verifier", tmp_path / "verifier", *data, "--tokenizer", tokenizer.path, "--task", "summarise", *one)
    trained = done(run(*verifier, *settings(*long)))
    assert "longer than" not in trained.output
    block = ["drafter.feed_forward=64", "drafter.layers=1", "drafter.max_block=3", "run.max_updates=2", *RUN, "run.batch_tokens=4096"]
    done(run("train-drafter", tmp_path / "model", *data, "--model", tmp_path / "verifier", *one, *settings(*block)))
    bundle = load_bundle(tmp_path / "model")
    assert (bundle.info.task, bundle.verifier.config.max_positions) == ("summarise", LONGEST)

    rows = ("--row", "greedy", "--row", "specdec", "--row", "beam", "--max-length", 12, "--repetitions", 1)
    scored = done(run("bench", "-m", tmp_path / "model", texts, *rows, *one, "--json", tmp_path / "scores.json"))
    record = json.loads((tmp_path / "scores.json").read_text(encoding="utf-8"))
    greedy, specdec, beam = record["rows"]
    assert specdec["identical"] == [16, 16] and specdec["iterations"] <= greedy["iterations"]
    assert record["input"] == {"name": str(texts), "lines": 16, "sentences": 16}
    for name in ("rouge1", "rouge2", "rougeLsum"):
        assert specdec[name] == greedy[name] and 0 <= beam[name] <= 100
    assert "rougeLsum: f1" in scored.stdout
