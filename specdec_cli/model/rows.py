"""Operations on the rows of records: the first dimension of all their tensors is the row."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

import torch
from torch import Tensor

T = TypeVar("T")


def select_rows(record: T, rows: Tensor) -> T:
    """The `rows` (indices) of `record` (a tensor, or a list or dataclass of such records), in this order."""
    selected: T = _map(lambda tensors: tensors[0].index_select(0, rows), [record])
    return selected


def join_rows(first: T, second: T) -> T:
    """The rows of `first`, then those of `second`, a record of the same structure."""
    joined: T = _map(torch.cat, [first, second])
    return joined


UNINITIALIZED = {"uninitialized": True}
"""Metadata of a field that is uninitialized for new rows; `replace_rows` skips it."""


def replace_rows(record: T, rows: Tensor, others: T) -> T:
    """Replace `rows` (indices) of `record` by `others`, new rows of the same structure, in place."""
    replaced: T = _map(lambda tensors: tensors[0].index_copy_(0, rows, tensors[1]), [record, others], skip=UNINITIALIZED)
    return replaced


def keep_rows(record: T, kept: Tensor) -> T:
    """The rows of `record` that are `kept` (B,), in any order; views of its tensors, which are overwritten."""
    number = int(kept.sum())
    holes, movers = (~kept[:number]).nonzero()[:, 0], number + kept[number:].nonzero()[:, 0]
    result: T = _map(lambda tensors: tensors[0].index_copy_(0, holes, tensors[0].index_select(0, movers))[:number], [record])
    return result


def map_tensors(function: Callable[[Tensor], Tensor], record: T) -> T:
    """A copy of `record` with the result of `function` for each of its tensors."""
    mapped: T = _map(lambda tensors: function(tensors[0]), [record])
    return mapped


def tensors(record: Any) -> Iterator[Tensor]:
    """All tensors in `record`."""
    if isinstance(record, Tensor):
        yield record
    else:
        for part in _parts(record):
            yield from tensors(part)


def form(record: Any) -> Hashable:
    """A key that is equal for two records if one can be copied to the other: classes, shapes, types, and values of other fields."""
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


def _map(function: Callable[[list[Tensor]], Tensor], records: Sequence[Any], skip: Mapping[str, bool] | None = None) -> Any:
    """Apply `function` to corresponding tensors of records of the same structure, except in fields with the metadata `skip`."""
    first = records[0]
    if isinstance(first, Tensor):
        return function(list(records))
    if isinstance(first, list):
        return [_map(function, parts, skip) for parts in zip(*records, strict=True)]
    if is_dataclass(first) and not isinstance(first, type):
        names = [f.name for f in fields(first) if skip is None or f.metadata != skip]
        return replace(first, **{name: _map(function, [getattr(r, name) for r in records], skip) for name in names})
    return first
