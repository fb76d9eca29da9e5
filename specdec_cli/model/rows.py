"""Choosing and joining the rows of records whose tensors all have the row as their first dimension."""

from collections.abc import Callable, Sequence
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


def replace_rows(record: T, rows: Tensor, others: T) -> T:
    """`record` with `others`, as many of the same form, in the places `rows`; its tensors are written to."""
    replaced: T = _map(lambda tensors: tensors[0].index_copy_(0, rows, tensors[1]), [record, others])
    return replaced


def _map(function: Callable[[list[Tensor]], Tensor], records: Sequence[Any]) -> Any:
    first = records[0]
    if isinstance(first, Tensor):
        return function(list(records))
    if isinstance(first, list):
        return [_map(function, parts) for parts in zip(*records, strict=True)]
    if is_dataclass(first) and not isinstance(first, type):
        return replace(first, **{f.name: _map(function, [getattr(r, f.name) for r in records]) for f in fields(first)})
    return first
