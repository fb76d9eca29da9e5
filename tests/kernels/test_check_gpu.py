"""The check of a GPU finds what it should, with kernels run by the interpreter and imitated graphs."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

pytest.importorskip("triton", reason="triton is not installed: pip install -e '.[kernels-test]'")
from specdec_cli.benchmark import check_gpu, checked_model
from specdec_cli.benchmark.checked_model import CheckedModel
from specdec_cli.decoding import graph_player
from specdec_cli.decoding.graphs import Graphs
from specdec_cli.decoding.options import Exact, Margin
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.kernels import network as network_module
from specdec_cli.kernels.network import TritonNetwork
from specdec_cli.model.bundle import Bundle, BundleInfo, save_bundle
from specdec_cli.opening import gpu
from specdec_cli.text.tokenize.sentencepiece import Subwords
from tests.decoding.imitation import ImitatedCapture
from tests.fakes import RELATIVE, RELATIVE_SHAPE, tiny_drafter, tiny_transformer

pytestmark = pytest.mark.usefixtures("whole_layers")


@pytest.mark.parametrize("broken", [None, "accept", "with_margin", "forbidden"])
def test_rules_of_acceptance_are_compared(broken: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    network = TritonNetwork(tiny_transformer(decoder_layers=1))
    verifier = Verifier(network)
    entries = verifier.entries(range(2), [[5, 6, 7, 3], [8, 9, 3]])
    made = {name: getattr(network_module, name) for name in ("accept", "with_margin", "forbidden")}
    changes: dict[str, Any] = {
        "accept": lambda draft, best, *rest, **options: made["accept"](draft, best.flip(0), *rest, **options),
        "with_margin": lambda draft, *_: torch.nn.functional.pad(draft.ids, (0, 1)),
        "forbidden": lambda *given: made["forbidden"](*given) * 0,
    }
    if broken is not None:
        monkeypatch.setattr(network_module, broken, changes[broken])
    found = gpu._judged_otherwise(network, entries)
    assert found == {None: None, "accept": Exact(), "with_margin": Margin(0.4), "forbidden": Exact()}[broken]


class Imitated(CheckedModel):
    """The bundle, with imitated graphs."""

    def bundle(self, means: str) -> tuple[Bundle, Verifier]:
        """The bundle, and its verifier with graphs."""
        bundle, verifier = super().bundle(means)
        if bundle.captured and verifier.graphs is None:
            verifier.graphs = Graphs(ImitatedCapture(calls=True))
        return bundle, verifier


def test_the_check_decodes_by_all_means_and_goes_on(
    bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tiny_transformer(vocabulary_size=len(bundle.tokenizer), decoder_layers=1, heads=1)
    made = Bundle(BundleInfo(decoding="specdec", max_length=3), bundle.tokenizer, model, tiny_drafter(model))
    save_bundle(made, tmp_path / "bundle")
    monkeypatch.setattr(gpu, "ROWS", 2)
    monkeypatch.setattr(gpu, "TOKENS", 3)
    monkeypatch.setattr(gpu, "BEAM", 2)
    monkeypatch.setattr(gpu, "MANY", 8)  # in float32 there are no larger tiles
    monkeypatch.setattr(check_gpu, "TIMED", ((1, 0), (2, 3)))
    monkeypatch.setattr(check_gpu, "SIZES", (5,))
    monkeypatch.setattr(check_gpu, "BESIDE", ())
    monkeypatch.setattr(check_gpu, "BURSTS", (3,))
    monkeypatch.setattr(check_gpu, "OTHERS", ("lookup",))
    for name in ("OF_SIZES", "OF_BURSTS", "OF_OTHERS"):
        monkeypatch.setattr(check_gpu, name, {2: None})
    monkeypatch.setattr(check_gpu, "ALIKE_ROWS", 2)
    monkeypatch.setattr(check_gpu, "ALIKE_SIZE", 2)
    monkeypatch.setattr(check_gpu, "BEAM_ROWS", ())
    monkeypatch.setattr(check_gpu, "TRAINED", ())
    monkeypatch.setattr(check_gpu, "DRAWN", 2)
    monkeypatch.setattr(check_gpu, "DRAWN_ROWS", 2)
    monkeypatch.setattr(check_gpu, "WINDOW", 1)
    monkeypatch.setattr(checked_model, "LAUNCHES", 1)
    monkeypatch.setattr(graph_player, "PLAIN_ROUNDS", 1)
    monkeypatch.setattr(graph_player, "UNBOUNDED", 3)
    out = tmp_path / "out.json"
    check_gpu.run_parts(Imitated(tmp_path / "bundle", ["a b", "c"], out, "cpu"), "text", 1e9)
    printed, results = capsys.readouterr().out, json.loads(out.read_text())
    assert results["kernels"]["kernels"] == "as they should be"
    assert results["kernels, batch 2, block size 3"]["same"] == 2
    assert results["kernels, batch 2, block size 3"]["replays"] > 0
    assert results["kernels, lookup"]["same"] == results["kernels, bursts of 3 rounds"]["same"] == 2
    assert results["kernels, block size 5"]["same"] == 2
    assert results["kernels, drafter alone"]["same"] == results["kernels, sampling"]["same"] == 2
    assert results["memory over 2 sentences"]["same"] == 2
    assert results["memory over 2 sentences"]["forms"] > 0
    assert results["operators, batch 1, block size 0"]["same"] == 2
    assert results["float32, eager operators"]["differ_by_rounding"] == 0
    assert results["kernels, batch 1, block size 0"]["us_a_round"] > 0
    assert "all as they should be" in printed
    assert check_gpu.run_parts(Imitated(tmp_path / "bundle", ["a b", "c"], out, "cpu"), "text", 1e9)
    assert "kernels:" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "changes",
    [{"order": "bidirectional", "heads": 1}, {"order": "masked", "heads": 1}, RELATIVE_SHAPE | RELATIVE["gated"]],
    ids=["bidirectional", "masked", "relative"],
)
def test_models_of_other_forms_pass_the_first_check(changes: dict[str, Any], tokenizer: Subwords, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "ROWS", 2)
    monkeypatch.setattr(gpu, "TOKENS", 4)
    monkeypatch.setattr(gpu, "BEAM", 2)
    monkeypatch.setattr(gpu, "PASSES", 2)
    monkeypatch.setattr(gpu, "MANY", 8)
    model = tiny_transformer(vocabulary_size=len(tokenizer), decoder_layers=1, **changes)
    bundle = Bundle(BundleInfo(decoding="greedy"), tokenizer, model)
    assert gpu.why_not_kernels(bundle) is None
    assert gpu._check_operators(bundle, "") == ("operators", "")
