"""Batches of a few fixed shapes, in a reproducible order."""

from collections import Counter

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec_cli.training.data import SentencePair, epoch_order, evaluation_order, group_by_shape, pad, padded_width
from specdec_cli.training.drafter import draw_cuts

WIDTHS = (8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144)
Lengths = list[tuple[int, int]]
some_lengths = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), min_size=1, max_size=60)


def pairs_of(lengths: Lengths) -> list[SentencePair]:
    return [SentencePair([7] * source, [8] * target) for source, target in lengths]


@given(some_lengths, st.integers(1, 200))
def test_every_pair_is_in_one_group_of_sufficient_width(lengths: Lengths, batch_tokens: int) -> None:
    groups = group_by_shape(pairs_of(lengths), batch_tokens, 64)
    assert sorted(index for group in groups for index in group.indices) == list(range(len(lengths)))
    for group in groups:
        assert {group.source_width, group.target_width} <= set(WIDTHS)
        assert all(lengths[i][0] <= group.source_width and lengths[i][1] <= group.target_width for i in group.indices)
        assert group.batch_size == max(1, batch_tokens // max(group.source_width, group.target_width))


def test_small_groups_are_merged_into_a_larger_square_group() -> None:
    few, many = [(5, 10)] * 3, [(5, 20)] * 20
    assert [(g.source_width, g.target_width, len(g.indices)) for g in group_by_shape(pairs_of(few + many), 96, 64)] == [
        (8, 24, 20),
        (12, 12, 3),
    ]


@given(st.integers(1, 5000), st.integers(1, 5000))
def test_padding_is_less_than_half_and_within_the_limit(length: int, longest: int) -> None:
    if length > longest:
        with pytest.raises(ValueError, match=f"{length} tokens is longer than {longest}"):
            padded_width(length, longest)
        return
    width = padded_width(length, longest)
    assert length <= width <= min(longest, max(8, 2 * length - 1))
    assert width in (longest, *WIDTHS)


@settings(deadline=None)
@given(some_lengths, st.integers(1, 200), st.integers(0, 5), st.integers(0, 5))
def test_an_epoch_covers_all_pairs_in_full_batches_reproducibly(lengths: Lengths, batch_tokens: int, seed: int, epoch: int) -> None:
    groups = group_by_shape(pairs_of(lengths), batch_tokens, 64)
    order = epoch_order(groups, seed, epoch)
    assert order == epoch_order(groups, seed, epoch)
    assert all(len(indices) == group.batch_size and set(indices) <= set(group.indices) for group, indices in order)
    seen = Counter(index for _, indices in order for index in indices)
    assert set(seen) == set(range(len(lengths)))
    for group in groups:
        counts = [seen[index] for index in group.indices]
        assert max(counts) - min(counts) <= 1


@given(some_lengths, st.integers(1, 200))
def test_evaluation_has_every_pair_once(lengths: Lengths, batch_tokens: int) -> None:
    order = evaluation_order(group_by_shape(pairs_of(lengths), batch_tokens, 64))
    assert sorted(index for _, indices in order for index in indices) == list(range(len(lengths)))
    assert all(0 < len(indices) <= group.batch_size and set(indices) <= set(group.indices) for group, indices in order)


def test_epochs_and_seeds_have_different_orders() -> None:
    groups = group_by_shape(pairs_of([(5, 5)] * 50), 8, 64)
    orders = [epoch_order(groups, seed, epoch) for seed, epoch in ((1, 0), (1, 1), (2, 0))]
    assert orders[0] != orders[1] != orders[2] != orders[0]


def test_padding_is_on_the_right() -> None:
    assert torch.equal(pad([[7], [8, 9]], 3, 0), torch.tensor([[7, 0, 0], [8, 9, 0]]))


@given(st.integers(0, 1000), st.integers(1, 60), st.integers(2, 8))
def test_cuts_begin_with_the_empty_prefix_and_are_sorted(seed: int, length: int, count: int) -> None:
    cuts = draw_cuts(numpy.random.default_rng(seed), length, count)
    drawn = [cut for cut in cuts if cut >= 0]
    assert len(cuts) == count
    assert cuts == [*drawn, *[-1] * (count - len(drawn))]
    assert drawn[0] == 0
    assert drawn == sorted(set(drawn))
    assert drawn[-1] < length
    assert len(drawn) == count or length <= 2 * count


def test_a_single_cut_is_uniform_over_all_prefixes() -> None:
    generator, length, draws = numpy.random.default_rng(0), 12, 6000
    counts = Counter(cut for _ in range(draws) for cut in draw_cuts(generator, length, 1))
    assert set(counts) == set(range(length))
    statistic = sum((counts[cut] - draws / length) ** 2 / (draws / length) for cut in range(length))
    assert statistic < 31.3  # chi-square of 11 degrees of freedom, p = 0.001


def test_one_cut_is_drawn_from_each_stratum() -> None:
    generator = numpy.random.default_rng(0)
    found = [draw_cuts(generator, 13, 4) for _ in range(300)]
    assert {cut for cuts in found for cut in cuts} == set(range(13))
    assert all(cuts[1] < 5 <= cuts[2] < 9 <= cuts[3] for cuts in found)
