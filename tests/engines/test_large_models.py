"""What `auto` decodes large models with that nothing was trained to draft for."""

from dataclasses import replace
from pathlib import Path

import pytest

from specdec_cli.decoding.options import DecodingOptions
from specdec_cli.decoding.sentence import make_sentence
from specdec_cli.engines import native_decoding
from specdec_cli.engines.native_decoding import IN_CACHES, step_bytes
from specdec_cli.model.bundle import Bundle, save_bundle
from specdec_cli.model.config import TransformerConfig
from specdec_cli.opening.engines import Opened, open_engine
from specdec_cli.opening.machine import MachineOptions
from specdec_cli.opening.models import ModelChoice
from tests.conftest import make_lines

BART = TransformerConfig(50_265, width=1024, feed_forward=4096, heads=16, encoder_layers=12, decoder_layers=12)


def opened(folder: Path, decoding: str, batch_size: int) -> Opened:
    options = MachineOptions(batch_size=batch_size, threads=1)
    return open_engine(ModelChoice(str(folder)), options, DecodingOptions(decoding=decoding, batch_size=batch_size, max_length=30))


def test_a_step_reads_the_weights_of_the_decoder_and_of_the_vocabulary() -> None:
    attention, layer = 4 * 1024 * 1024, 2 * 1024 * 4096
    # The keys and values of the source are computed once a sentence.
    assert step_bytes(BART) == 12 * (attention + attention // 2 + layer) + 50_265 * 1024
    assert step_bytes(BART) > IN_CACHES > step_bytes(replace(BART, vocabulary_size=8000, width=384, feed_forward=1536, decoder_layers=4))


@pytest.mark.parametrize(("batch_size", "large", "expected"), [(1, True, "lookup"), (1, False, "greedy"), (8, True, "greedy")])
def test_single_sentences_of_a_large_model_are_looked_up(
    bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch_size: int, large: bool, expected: str
) -> None:
    save_bundle(replace(bundle, info=replace(bundle.info, decoding="auto")), tmp_path / "bundle")
    monkeypatch.setattr(native_decoding, "IN_CACHES", 0 if large else IN_CACHES)
    found, greedy = (opened(tmp_path / "bundle", decoding, batch_size) for decoding in ("auto", "greedy"))
    sentences = [make_sentence(found.bundle.tokenizer, found.bundle.shape.eos, *each) for each in enumerate(make_lines(12, seed=2))]
    assert found.engine.decoding.method == expected
    outputs = [{each.number: (each.ids, each.rounds) for each in one.engine.decode(sentences)} for one in (found, greedy)]
    assert {number: ids for number, (ids, _) in outputs[0].items()} == {number: ids for number, (ids, _) in outputs[1].items()}
    fewer = sum(rounds for _, rounds in outputs[0].values()) < sum(rounds for _, rounds in outputs[1].values())
    assert fewer == (expected == "lookup")
