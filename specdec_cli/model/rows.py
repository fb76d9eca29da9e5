"""Operations on the rows of a record: a tensor, or a list or dataclass of records, whose tensors all have rows as
first dimension.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from torch import Tensor

T = TypeVar("T")


def select_rows(record: T, rows: Tensor) -> T:
    """Copy the rows with the indices `rows`, in this order, of `record`: a tensor, or a list or dataclass of such
    records.

    Fields that are not tensors are kept.
    """
    selected: T = _map(lambda tensors: tensors[0].index_select(0, rows), [record])
    return selected


UNINITIALIZED = {"uninitialized": True}
"""Metadata of a dataclass field whose values for new rows are uninitialized; `replace_rows` does not copy it."""


def replace_rows(record: T, rows: Tensor, others: T, *, whole: bool = False) -> T:
    """Replace the rows with the indices `rows` of a tensor, or of all tensors in a list or dataclass, by the rows of
    `others`.

    `others` has the same structure. Values that are uninitialized in new rows are replaced only if the records are `whole`. The tensors of
    `record` are changed in place; the result has these tensors.
    """
    skip = None if whole else UNINITIALIZED
    replaced: T = _map(lambda tensors: tensors[0].index_copy_(0, rows, tensors[1]), [record, others], skip)
    return replaced


def keep_rows(record: T, kept: Tensor) -> T:
    """Keep the rows for which the boolean mask `kept` (B,) is true, of a tensor or of all tensors in a list or
    dataclass.

    The order of the rows may change. The tensors are overwritten in place; the result has views of their first rows.
    """
    number = int(kept.sum())
    holes, movers = (~kept[:number]).nonzero()[:, 0], number + kept[number:].nonzero()[:, 0]
    result: T = _map(lambda tensors: tensors[0].index_copy_(0, holes, tensors[0].index_select(0, movers))[:number], [record])
    return result


def map_tensors(function: Callable[[Tensor], Tensor], record: T) -> T:
    """Copy a list or dataclass, and those nested in it, with each tensor replaced by the result of `function`; other
    values are kept.
    """
    mapped: T = _map(lambda tensors: function(tensors[0]), [record])
    return mapped


def tensors(record: Any) -> Iterator[Tensor]:
    """Yield the tensors in `record` (a tensor, or a list, tuple or dataclass of such records), in the order of its
    fields.
    """
    if isinstance(record, Tensor):
        yield record
    else:
        for part in _parts(record):
            yield from tensors(part)


def form(record: Any) -> Hashable:
    """A key that is equal for two records if and only if they have the same structure of lists and dataclasses,
    tensors of the same shapes and types, and equal other values.

    One of two such records can be copied to the other in place.
    """
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
