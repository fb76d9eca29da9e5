"""The speed of updates is measured with and without graphs; graphs are imitated."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from specdec_cli.benchmark import check_gpu, check_training
from specdec_cli.benchmark.check_training import Trained, alike, training_speed
from specdec_cli.benchmark.checked_model import CheckedModel
from specdec_cli.decoding import graphs
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.model.bundle import Bundle, BundleInfo
from specdec_cli.text.tokenize.sentencepiece import EOS, Subwords
from specdec_cli.training.data import SentencePair
from tests.decoding.imitation import ImitatedCapture
from tests.fakes import tiny_drafter, tiny_transformer
from tests.training.conftest import make_pairs

SMALL: dict[str, Any] = {"width": 32, "feed_forward": 32, "heads": 2, "encoder_layers": 1, "decoder_layers": 1}


@pytest.fixture
def drafting(tokenizer: Subwords) -> Bundle:
    model = tiny_transformer(vocabulary_size=len(tokenizer))
    return Bundle(BundleInfo(decoding="specdec"), tokenizer, model, tiny_drafter(model))


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("TOKENS", 32), ("FIRST", 10), ("UPDATES", 14), ("SHAPE", SMALL)):
        monkeypatch.setattr(check_training, name, value)


@pytest.mark.parametrize("trained", ["verifier", "drafter"])
def test_updates_are_timed_and_have_the_same_loss(drafting: Bundle, trained: Trained, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "can_branch", lambda _: False)
    losses = []
    for captured in (True, False):
        capture = ImitatedCapture()
        found = training_speed(deepcopy(drafting), make_pairs(30, seed=0), trained, "cpu", captured=captured, capture=capture)
        assert found["target_tokens_per_s"] > 0
        assert found.get("graphs", 0) == capture.count == captured
        losses.append(found["loss"])
    assert losses[0] == losses[1] > 0


def test_another_loss_of_captured_updates_is_an_error(drafting: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = CheckedModel(tmp_path, [], tmp_path / "out.json")
    model._sentences = [Sentence(0, [7, EOS])]
    monkeypatch.setattr(check_gpu, "load_checkpoint", lambda _: drafting)
    monkeypatch.setattr(model, "greedy", lambda _: {0: [7, EOS]})
    for loss, wrong in ((8.0, False), (8.3, False), (8.5, True)):
        results: check_gpu.Results = {"training of the verifier, captured": {"loss": 8.0}}
        monkeypatch.setattr(check_gpu, "training_speed", lambda *_, loss=loss, **__: {"loss": loss})
        assert ("error" in check_gpu.training(model, "verifier", captured=False, results=results)) == wrong


def test_updates_that_are_not_captured_are_an_error(drafting: Bundle) -> None:
    with pytest.raises(ValueError, match="updates are not captured"):
        training_speed(drafting, make_pairs(30, seed=0), "verifier", "cpu", captured=True)


def test_a_bundle_without_a_drafter_is_left_out(drafting: Bundle) -> None:
    drafting.drafter = None
    assert "left_out" in training_speed(drafting, make_pairs(30, seed=0), "drafter", "cpu", captured=False)


def test_pairs_have_the_most_frequent_shape() -> None:
    short, long = SentencePair([4] * 8, [5] * 7), SentencePair([6] * 16, [7] * 9)
    pairs = alike([long, short, long], 64, 128)
    assert pairs == [long] * 32
