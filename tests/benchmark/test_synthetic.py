"""Synthetic benchmarks: recorded drafts have the requested acceptance and greedy output."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from specdec_cli.benchmark.geometries import GEOMETRIES, Geometry, accepted_tokens, make_sources
from specdec_cli.benchmark.random_model import random_bundle
from specdec_cli.benchmark.recorded import RecordedRunner, recorded_drafts
from specdec_cli.benchmark.rows import Row
from specdec_cli.benchmark.runs import Conditions
from specdec_cli.errors import UsageError
from specdec_cli.model.bundle import save_bundle
from specdec_cli.model.config import TransformerConfig
from specdec_cli.native.library import NativeError
from specdec_cli.native.model import NativeModel
from specdec_cli.opening.machine import EngineName, MachineOptions, Precision
from specdec_cli.opening.models import ModelChoice
from tests.native.decoding_requests import Request, decode

SHAPE = TransformerConfig(64, width=32, feed_forward=64, heads=2, encoder_layers=1, decoder_layers=2, tied_output=False)
BLOCKS = Geometry("blocks", SHAPE, "specdec", 11, 3, ("ctranslate2-greedy",), block_size=4, drafter_layers=1)
SHORTLISTED = replace(BLOCKS, name="shortlisted", shortlist=16)
Open = Callable[[Row], RecordedRunner]
COPIES = Geometry("copies", SHAPE, "input-guided", 12, 2, ("ctranslate2-beam",))


@pytest.mark.parametrize(("geometry", "mean"), [(GEOMETRIES[0], 5.5), (GEOMETRIES[1], 12.0)])
def test_the_pattern_is_fixed_and_has_the_requested_mean(geometry: Geometry, mean: float) -> None:
    pattern = accepted_tokens(geometry, 8)
    assert pattern == accepted_tokens(geometry, 8) and len({tuple(each) for each in pattern}) > 4
    assert all(sum(each) / len(each) == mean == geometry.tokens_per_round for each in pattern)
    assert all(1 <= tokens <= (geometry.block_size or geometry.length) + 1 for each in pattern for tokens in each)


def test_block_sizes_that_cannot_hold_the_pattern_are_refused() -> None:
    geometry = GEOMETRIES[0].with_block_size(5)
    assert all(max(each) <= 6 for each in accepted_tokens(geometry, 8))
    assert GEOMETRIES[1].with_block_size(1) is GEOMETRIES[1]
    with pytest.raises(UsageError, match=r"block size 4: .* need larger blocks"):
        geometry.with_block_size(4)


def test_recorded_drafts_agree_up_to_the_verifiers_own_token() -> None:
    output = [10, 11, 12, 13, 14]
    assert recorded_drafts(output, [3, 1, 1], 3, 64) == [[10, 11, 13], [14, 14, 14], [15, 15, 15]]
    assert recorded_drafts(output, [3, 2], 0, 64) == [[10, 11, 13, 13], [13]]


def test_sources_have_the_requested_lengths() -> None:
    assert all(24 <= len(line.split()) <= 40 for line in make_sources(BLOCKS))


@pytest.fixture
def open_runner(tmp_path: Path) -> Callable[..., Open]:
    """Writes the bundle of a geometry, and gives what opens its rows."""

    def opened(geometry: Geometry, engine: EngineName, precision: Precision = "int8") -> Open:
        save_bundle(random_bundle(geometry), tmp_path)
        machine = MachineOptions(device="cpu", precision=precision, engine=engine)
        return partial(RecordedRunner, Conditions(ModelChoice(str(tmp_path)), machine, split=False, geometry=geometry))

    return opened


def replayed(opened: Open, geometry: Geometry, batch_size: int) -> list[tuple[tuple[int, ...], ...]]:
    """The tokens of recorded rounds, which are those of greedy decoding."""
    lines, greedy = make_sources(geometry), Row("greedy").changed(max_length=geometry.length, batch_size=batch_size)
    drafting = greedy.changed(decoding=geometry.decoding, block_size=geometry.block_size or None)
    expected, outputs = opened(greedy).run(lines).outputs, opened(drafting).run(lines).outputs
    assert [output.sentences for output in outputs] == [output.sentences for output in expected]
    assert all(output.tokens == geometry.length and output.rounds == geometry.rounds for output in outputs)
    # If an output repeated one token, it would be the same whatever was accepted.
    assert all(len(set(output.sentences[0])) > 1 for output in outputs)
    return [output.sentences for output in outputs]


@pytest.mark.parametrize("geometry", [BLOCKS, COPIES], ids=lambda geometry: geometry.name)
@pytest.mark.parametrize("precision", ["float32", "int8"])
@pytest.mark.parametrize("batch_size", [1, 3])
def test_recorded_rounds_are_replayed_with_greedy_output(
    geometry: Geometry, precision: Precision, batch_size: int, open_runner: Callable[..., Open]
) -> None:
    replayed(open_runner(geometry, "reference", precision), geometry, batch_size)


@pytest.mark.parametrize("geometry", [BLOCKS, COPIES, SHORTLISTED], ids=lambda geometry: geometry.name)
@pytest.mark.parametrize("batch_size", [1, 3])
def test_the_native_engine_replays_recorded_rounds(geometry: Geometry, batch_size: int, open_runner: Callable[..., Open]) -> None:
    found = replayed(open_runner(geometry, "native"), geometry, batch_size)
    assert found == replayed(open_runner(geometry, "reference"), geometry, batch_size)


def test_recorded_drafts_of_another_number_are_refused(tmp_path: Path) -> None:
    save_bundle(random_bundle(BLOCKS), tmp_path)
    model = NativeModel(SHAPE, tmp_path / "verifier" / "model.safetensors")
    for recorded in ([[[8]], [[8], [9]]], [[[8]]], [[[8]], []]):
        with pytest.raises(ValueError, match="recorded drafts"):
            list(decode(model, [[8, 3], [9, 3]], Request("lookup", recorded=recorded)))
    with pytest.raises(NativeError, match="vocabulary"):
        list(decode(model, [[8, 3]], Request("lookup", recorded=[[[64]]])))
