"""The speed of updates is measured with and without graphs; graphs are imitated."""

from typing import Any

import pytest

from specdec_cli.benchmark import check_training
from specdec_cli.benchmark.check_training import Trained, alike, training_speed
from specdec_cli.decoding import graphs
from specdec_cli.model.bundle import Bundle, BundleInfo
from specdec_cli.text.tokenize.sentencepiece import Subwords
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
@pytest.mark.parametrize("captured", [True, False])
def test_updates_are_timed(drafting: Bundle, trained: Trained, captured: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "can_branch", lambda _: False)
    capture = ImitatedCapture()
    found = training_speed(drafting, make_pairs(30, seed=0), trained, "cpu", captured=captured, capture=capture)
    assert found["target_tokens_per_s"] > 0 and found["loss"] > 0
    assert found.get("graphs", 0) == capture.count == captured


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
