"""Sentences grouped into batches of a few fixed shapes, in an order that can be resumed."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy
import torch
from torch import Tensor

_NARROWEST = 8


@dataclass(frozen=True)
class SentencePair:
    """Ids of a source (ending with EOS) and of a target (without BOS, ending with EOS)."""

    source: Sequence[int]
    target: Sequence[int]


@dataclass(frozen=True)
class Group:
    """Indices of pairs that share a shape: `rows` of them make a batch of `source` by `target` columns."""

    source: int
    target: int
    rows: int
    indices: tuple[int, ...]


def width_of(length: int, longest: int) -> int:
    """The smallest of the widths 8, 12, 16, 24, 32, 48 and so on, and `longest` at most, that holds `length`.

    Few widths, because each new shape costs the preparation of its kernels. Raises ValueError for a `length` beyond `longest`.
    """
    if length > longest:
        raise ValueError(f"a sentence of {length} tokens is longer than {longest}")
    power = max(_NARROWEST, 1 << (length - 1).bit_length())  # of 2, from `length` on
    between = power * 3 // 4
    return min(longest, between if power > _NARROWEST and length <= between else power)


def group_by_shape(pairs: Sequence[SentencePair], batch_tokens: int, longest: int) -> list[Group]:
    """Group pairs by the widths of both sides; a shape with less than four batches joins the square one above it.

    No side may have more than `longest` tokens, the positions of the model. Raises ValueError where one has.
    """
    shapes: dict[tuple[int, int], list[int]] = defaultdict(list)
    for index, pair in enumerate(pairs):
        shapes[width_of(len(pair.source), longest), width_of(len(pair.target), longest)].append(index)
    for shape in sorted(shapes):
        square = (max(shape), max(shape))
        if shape != square and len(shapes[shape]) * max(shape) < 4 * batch_tokens:
            shapes[square].extend(shapes.pop(shape))
    return [Group(*shape, max(1, batch_tokens // max(shape)), tuple(sorted(indices))) for shape, indices in sorted(shapes.items())]


def epoch_order(groups: Sequence[Group], seed: int, epoch: int) -> list[tuple[Group, tuple[int, ...]]]:
    """The batches of an epoch in their order; the same for the same seed and epoch.

    The last batch of a group is filled up from its start, so that every batch has its full shape.
    """
    generator = numpy.random.default_rng((seed, epoch))
    batches: list[tuple[Group, tuple[int, ...]]] = []
    for group in groups:
        order = generator.permutation(numpy.asarray(group.indices))
        filled = numpy.resize(order, -(-len(order) // group.rows) * group.rows)
        batches += [(group, tuple(part.tolist())) for part in filled.reshape(-1, group.rows)]
    return [batches[i] for i in generator.permutation(len(batches))]


def pad(rows: Sequence[Sequence[int]], width: int, padding: int) -> Tensor:
    """Ids (B, width), padded on the right."""
    table = numpy.full((len(rows), width), padding, dtype=numpy.int64)
    for row, ids in zip(table, rows, strict=True):
        row[: len(ids)] = ids
    return torch.from_numpy(table)
