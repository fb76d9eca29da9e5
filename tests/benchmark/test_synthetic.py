"""Synthetic benchmarks: recorded drafts have the requested acceptance and greedy output."""

from dataclasses import replace

import pytest

from specdec_cli.benchmark.geometries import GEOMETRIES, Geometry, accepted_tokens, make_sources, recorded_drafts
from specdec_cli.benchmark.rows import Row
from specdec_cli.benchmark.synthetic import RecordedRunner, random_bundle
from specdec_cli.commands.machine import Machine, move_to
from specdec_cli.errors import UsageError
from specdec_cli.kernels.build import load_kernels
from specdec_cli.model.config import TransformerConfig

SHAPE = TransformerConfig(64, width=32, feed_forward=64, heads=2, encoder_layers=1, decoder_layers=2, tied_output=False)
BLOCKS = Geometry("blocks", SHAPE, "specdec", 11, 3, ("ctranslate2-greedy",), block_size=4, drafter_layers=1)
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


def test_geometries_are_restored_from_json() -> None:
    values = GEOMETRIES[1].to_dict()
    assert Geometry.from_dict(values | {"opponents": list(values["opponents"])}) == GEOMETRIES[1]


def test_recorded_drafts_agree_up_to_the_verifiers_own_token() -> None:
    output = [10, 11, 12, 13, 14]
    assert recorded_drafts(output, [3, 1, 1], 3, 64) == [[10, 11, 13], [14, 14, 14], [15, 15, 15]]
    assert recorded_drafts(output, [3, 2], 0, 64) == [[10, 11, 13, 13], [13]]


def test_sources_have_the_requested_lengths() -> None:
    assert all(24 <= len(line.split()) <= 40 for line in make_sources(BLOCKS))


@pytest.mark.parametrize("geometry", [BLOCKS, COPIES], ids=lambda geometry: geometry.name)
@pytest.mark.parametrize("precision", ["float32", "int8"])
@pytest.mark.parametrize("batch_size", [1, 3])
def test_recorded_rounds_are_replayed_with_greedy_output(geometry: Geometry, precision: str, batch_size: int) -> None:
    lines = make_sources(geometry)
    runner = RecordedRunner(move_to(Machine("cpu", precision, 1), random_bundle(geometry)), geometry, lines)
    greedy = Row("greedy", max_length=geometry.length, batch_size=batch_size)
    drafting = replace(greedy, decoding=geometry.decoding, block_size=geometry.block_size or None)
    expected, outputs = runner.run(greedy, lines).outputs, runner.run(drafting, lines).outputs
    assert [output.sentences for output in outputs] == [output.sentences for output in expected]
    assert all(output.tokens == geometry.length and output.rounds == geometry.rounds for output in outputs)
    # If an output repeated one token, it would be the same whatever was accepted.
    assert all(len(set(output.sentences[0])) > 1 for output in outputs)


@pytest.mark.skipif(load_kernels() is None, reason="there is no compiler, or the processor lacks the instructions")
def test_time_outside_kernels_is_reported_as_a_share() -> None:
    geometry = replace(BLOCKS, shape=replace(SHAPE, width=64))
    runner = RecordedRunner(move_to(Machine("cpu", "int8", 1), random_bundle(geometry)), geometry, make_sources(geometry))
    before = dict(vars(load_kernels()))
    share = runner.share_outside_kernels(Row("greedy", max_length=geometry.length), make_sources(geometry))
    assert share is not None and 0 < share < 1
    assert vars(load_kernels()) == before
