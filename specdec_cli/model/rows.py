"""Choosing and joining the rows of records whose tensors all have the row as their first dimension."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

import torch
from torch import Tensor

T = TypeVar("T")


def select_rows(record: T, rows: Tensor) -> T:
    """`record` (a tensor, a list or a dataclass of them) with only `rows` (indices), in this order."""
    selected: T = _map(lambda tensors: tensors[0].index_select(0, rows), [record])
    return selected


def join_rows(first: T, second: T) -> T:
    """The rows of `first`, then those of `second`, a record of the same form."""
    joined: T = _map(torch.cat, [first, second])
    return joined


EMPTY_AT_FIRST = {"empty at first": True}
"""Metadata of a field that holds nothing of a row that is new: where it takes the place of another, what is there may stay."""


def replace_rows(record: T, rows: Tensor, others: T) -> T:
    """`record` with `others`, new rows of the same form, in the places `rows`; its tensors are written to."""
    replaced: T = _map(lambda tensors: tensors[0].index_copy_(0, rows, tensors[1]), [record, others], leave=EMPTY_AT_FIRST)
    return replaced


def keep_rows(record: T, kept: Tensor) -> T:
    """`record` with only the rows that are `kept` (B,), in any order; its tensors are written to, and those that come lie in them."""
    number = int(kept.sum())
    holes, movers = (~kept[:number]).nonzero()[:, 0], number + kept[number:].nonzero()[:, 0]
    result: T = _map(lambda tensors: tensors[0].index_copy_(0, holes, tensors[0].index_select(0, movers))[:number], [record])
    return result


def map_tensors(function: Callable[[Tensor], Tensor], record: T) -> T:
    """`record` anew, with what `function` makes of each of its tensors."""
    mapped: T = _map(lambda tensors: function(tensors[0]), [record])
    return mapped


def tensors(record: Any) -> Iterator[Tensor]:
    """All tensors of `record`."""
    if isinstance(record, Tensor):
        yield record
    else:
        for part in _parts(record):
            yield from tensors(part)


def form(record: Any) -> Hashable:
    """What two records must have in common for one to be copied onto the other: kinds, shapes, types, and what is no tensor."""
    if isinstance(record, Tensor):
        return record.shape, record.dtype
    parts = _parts(record)
    return (type(record), *map(form, parts)) if parts or isinstance(record, list) else record


def _parts(record: Any) -> Sequence[Any]:
    if isinstance(record, list | tuple):
        return record
    if is_dataclass(record) and not isinstance(record, type):
        return [getattr(record, f.name) for f in fields(record)]
    return ()


def _map(function: Callable[[list[Tensor]], Tensor], records: Sequence[Any], leave: Mapping[str, bool] | None = None) -> Any:
    """`function` of each tensor of records of one form; not of fields whose metadata are `leave`."""
    first = records[0]
    if isinstance(first, Tensor):
        return function(list(records))
    if isinstance(first, list):
        return [_map(function, parts, leave) for parts in zip(*records, strict=True)]
    if is_dataclass(first) and not isinstance(first, type):
        names = [f.name for f in fields(first) if leave is None or f.metadata != leave]
        return replace(first, **{name: _map(function, [getattr(r, name) for r in records], leave) for name in names})
    return first
