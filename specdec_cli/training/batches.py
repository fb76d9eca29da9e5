"""Batches of a few fixed shapes, in an order that depends only on seed and epoch."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy
import torch
from torch import Tensor

_MIN_WIDTH = 8


@dataclass(frozen=True)
class SentencePair:
    """Token ids of a source, which ends with EOS, and of a target, which has no BOS and ends with EOS."""

    source: Sequence[int]
    target: Sequence[int]


@dataclass(frozen=True)
class ShapeGroup:
    """The pairs whose batches have the same tensor shapes: sources (batch_size, source_width), targets (batch_size, target_width).

    `indices` are the positions of these pairs in the list of all pairs.
    """

    source_width: int
    target_width: int
    batch_size: int
    indices: tuple[int, ...]


def padded_width(length: int, max_length: int) -> int:
    """The smallest of 8, 12, 16, 24, 32, 48, ... that is at least `length`, capped at `max_length`.

    Few widths keep the number of tensor shapes small: PyTorch prepares its kernels for each new shape. Raises ValueError if
    `length` exceeds `max_length`.
    """
    if length > max_length:
        raise ValueError(f"a sentence of {length} tokens is longer than {max_length}")
    power = max(_MIN_WIDTH, 1 << (length - 1).bit_length())  # the smallest power of 2 that is at least `length`
    three_quarters = power * 3 // 4
    return min(max_length, three_quarters if power > _MIN_WIDTH and length <= three_quarters else power)


def group_by_shape(pairs: Sequence[SentencePair], batch_tokens: int, max_length: int) -> list[ShapeGroup]:
    """Group pairs by the padded widths of source and target.

    The batch size of a group is `batch_tokens` divided by the larger of its two widths, at least 1. A group with less than four
    batches is merged into the group whose source and target width both equal its larger width. Raises ValueError if a source or
    target has more than `max_length` tokens.
    """
    shapes: dict[tuple[int, int], list[int]] = defaultdict(list)
    for index, pair in enumerate(pairs):
        shapes[padded_width(len(pair.source), max_length), padded_width(len(pair.target), max_length)].append(index)
    for shape in sorted(shapes):
        square = (max(shape), max(shape))
        if shape != square and len(shapes[shape]) * max(shape) < 4 * batch_tokens:
            shapes[square].extend(shapes.pop(shape))
    return [ShapeGroup(*shape, max(1, batch_tokens // max(shape)), tuple(sorted(indices))) for shape, indices in sorted(shapes.items())]


def epoch_order(groups: Sequence[ShapeGroup], seed: int, epoch: int) -> list[tuple[ShapeGroup, tuple[int, ...]]]:
    """Return the batches of epoch number `epoch` in random order, each as its group and the indices of its pairs.

    The pairs of each group are shuffled too. The order depends only on `groups`, `seed` and `epoch`. The last batch of a group
    repeats pairs of its first batches, so that all batches of a group have the same size.
    """
    generator = numpy.random.default_rng((seed, epoch))
    batches: list[tuple[ShapeGroup, tuple[int, ...]]] = []
    for group in groups:
        order = generator.permutation(numpy.asarray(group.indices))
        filled = numpy.resize(order, -(-len(order) // group.batch_size) * group.batch_size)
        batches += [(group, tuple(part.tolist())) for part in filled.reshape(-1, group.batch_size)]
    return [batches[i] for i in generator.permutation(len(batches))]


def evaluation_order(groups: Sequence[ShapeGroup]) -> list[tuple[ShapeGroup, tuple[int, ...]]]:
    """Return batches that have every pair once, each as its group and the indices of its pairs. The last one of a group may be smaller."""
    return [
        (group, group.indices[start : start + group.batch_size])
        for group in groups
        for start in range(0, len(group.indices), group.batch_size)
    ]


def pad(rows: Sequence[Sequence[int]], width: int, padding: int) -> Tensor:
    """An int64 tensor (B, width) of the token ids of the B `rows`, padded on the right with the id `padding`."""
    table = numpy.full((len(rows), width), padding, dtype=numpy.int64)
    for row, ids in zip(table, rows, strict=True):
        row[: len(ids)] = ids
    return torch.from_numpy(table)
