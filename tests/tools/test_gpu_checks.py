"""A stored check of a GPU keeps all of its results, and a page shows them."""

import json
from pathlib import Path
from typing import Any

import pytest

from specdec_cli.benchmark.results import NOTHING
from tools.gpu_checks import gpu_checks, store

CARD = {"card": "A100", "torch": "2.11", "triton": "3.6", "input": "DATA/en-de/dev.chat.tsv", "lines": 1338, "bundle": "en-de", "took_s": 1}
SPEED = {"ms_a_line": 2.25, "tokens_per_s": 12345, "tokens": 9, "took_s": 1.5}


def stored(tmp_path: Path, parts: dict[str, Any]) -> str:
    (tmp_path / "card.json").write_text(json.dumps(parts))
    store("a100", tmp_path / "card.json", tmp_path / "gpu")
    kept = (tmp_path / "gpu" / "a100.json").read_text()
    assert json.loads(kept) == parts
    assert kept.count("\n") == len(parts) + 2
    return gpu_checks(tmp_path / "gpu")


def test_a_page_shows_speeds_and_agreement(tmp_path: Path) -> None:
    parts = {
        "card": CARD,
        "kernels, batch 1, block size 0": SPEED | {"same": 300},
        "kernels, batch 128, block size 4": SPEED | {"same": 1338},
        "CTranslate2, batch 128": SPEED,
        "kernels, batch 1, beam of 5": SPEED,
        "CTranslate2, batch 1, beam of 5": SPEED | {"ms_a_line": 15.04},
    }
    intro, _, *lines = stored(tmp_path, parts).splitlines()
    assert intro == "Checks by the command below that were stored:"
    assert lines[0] == (
        "**A100**, PyTorch 2.11, Triton 3.6; en-de, 1,338 lines of DATA/en-de/dev.chat.tsv. The expected tokens in 2 of 2 parts."
    )
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith(("| 1 ", "| 128 "))]
    assert rows == [
        ["1", "2.2", *[NOTHING] * 4, "2.2", "15.0"],
        ["128", NOTHING, "12,345", NOTHING, NOTHING, "12,345", NOTHING, NOTHING],
    ]


def test_a_page_shows_training_and_memory(tmp_path: Path) -> None:
    parts = {
        "card": CARD,
        "training of the verifier, captured": {"target_tokens_per_s": 400123},
        "training of the verifier, eager": {"target_tokens_per_s": 150000},
        "training of the drafter, captured": {"target_tokens_per_s": 90000},
        "training of the drafter, eager": {"error": "ValueError: the loss is nan"},
        "memory over 100,000 sentences": {
            "sentences": 98304,
            "first_mb": 1200.5,
            "second_mb": 1201.0,
            "forms": 21,
            "rounds_a_burst": 310.2,
            "same": 98304,
        },
    }
    page = stored(tmp_path, parts)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith(("| ver", "| dra"))]
    assert rows == [["verifier", "400,123", "150,000"], ["drafter", "90,000", NOTHING]]
    memory = "Memory: at most 1,200.5 MB while the first half of 98,304 drawn sentences was decoded, 1,201.0 MB during the second"
    assert f"{memory}; 21 forms of batches, 310.2 rounds a burst.\n" in page
    assert "1 of 2 parts; not as they should be: training of the drafter, eager." in page


def test_a_page_names_what_is_not_as_it_should_be(tmp_path: Path) -> None:
    parts = {"card": CARD, "kernels": {"error": "bits"}, "kernels, batch 7, block size 3": SPEED | {"different": 2, "of": 9}}
    assert "tokens in 0 of 2 parts; not as they should be: kernels; kernels, batch 7, block size 3." in stored(tmp_path, parts)


def test_other_files_are_refused(tmp_path: Path) -> None:
    assert gpu_checks(tmp_path) == ""
    (tmp_path / "other.json").write_text('{"rows": []}')
    with pytest.raises(ValueError, match="not the results of a check of a GPU"):
        store("other", tmp_path / "other.json", tmp_path)
