"""Rows with the oracle length of the output."""

from pathlib import Path

import torch

from specdec_cli.benchmark.rows import Row
from specdec_cli.benchmark.runs import BundleRunner, Conditions
from specdec_cli.decoding.drafters.jacobi import Jacobi
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.engines.reference import Engine
from specdec_cli.model.bundle import Bundle
from specdec_cli.opening.machine import MachineOptions
from specdec_cli.opening.models import ModelChoice

LINES = ("ka lo mi. No pe di.", "", "fo su")


def test_known_lengths_are_those_of_greedy_output(bundle: Bundle, bundle_folder: Path) -> None:
    runner = BundleRunner(Conditions(ModelChoice(str(bundle_folder)), MachineOptions(device="cpu", engine="reference")))
    outputs = runner.run(Row("greedy").changed(max_length=12), LINES).outputs
    lengths = [len(ids) for output in outputs for ids in output.sentences]
    assert len(lengths) == 3
    engine = runner.reference(Row("jacobi", "fixed-point", oracle_length=True).changed(max_length=12), Engine, LINES)
    assert isinstance(engine.drafter, Jacobi)
    texts = ("ka lo mi.", "No pe di.", "fo su")
    sentences = [Sentence(number, bundle.tokenizer.add_special_tokens(bundle.tokenizer.encode(text))) for number, text in enumerate(texts)]
    with torch.inference_mode():
        state = engine.verifier.begin([s.number for s in sentences], [s.source for s in sentences], 12)
        assert engine.drafter.begin(state, sentences).ends.tolist() == [1 + length for length in lengths]


def test_a_known_length_saves_passes(bundle_folder: Path) -> None:
    runner = BundleRunner(Conditions(ModelChoice(str(bundle_folder)), MachineOptions(device="cpu", engine="reference")))
    rounds = [
        sum(output.rounds or 0 for output in runner.run(Row("jacobi", "fixed-point", oracle_length=known), LINES).outputs)
        for known in (True, False)
    ]
    assert rounds[0] <= rounds[1]
