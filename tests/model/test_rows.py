"""Selecting, joining and replacing rows of nested records."""

from dataclasses import dataclass, field

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from specdec_cli.model.rows import UNINITIALIZED, form, keep_rows, map_tensors, replace_rows, select_rows, tensors


@dataclass
class Inner:
    layers: list[Tensor]


@dataclass
class Record:
    ids: Tensor
    inner: Inner
    nothing: None = None


def record(first: int, rows: int) -> Record:
    ids = torch.arange(first, first + rows)
    return Record(ids, Inner([ids[:, None] * 10, ids[:, None, None] * torch.ones(2, 3)]))


@settings(deadline=None)
@given(st.lists(st.integers(0, 5), max_size=8))
def test_rows_are_selected_in_the_requested_order(rows: list[int]) -> None:
    found = select_rows(record(0, 6), torch.tensor(rows, dtype=torch.long))
    assert found.ids.tolist() == rows
    assert found.inner.layers[0][:, 0].tolist() == [10 * row for row in rows]
    assert found.inner.layers[1].shape == (len(rows), 2, 3)
    assert found.nothing is None


@settings(deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=9))
def test_kept_rows_move_to_the_front_in_any_order(kept: list[bool]) -> None:
    whole = record(0, len(kept))
    found = keep_rows(whole, torch.tensor(kept))
    assert sorted(found.ids.tolist()) == [row for row, keeps in enumerate(kept) if keeps]
    assert torch.equal(found.inner.layers[0][:, 0], found.ids * 10)
    assert torch.equal(found.inner.layers[1][:, 1, 2], found.ids.float())
    assert not any(kept) or found.ids.data_ptr() == whole.ids.data_ptr()


def test_new_rows_replace_others_except_in_uninitialised_fields() -> None:
    @dataclass
    class Kept:
        ids: Tensor
        cache: Tensor = field(metadata=UNINITIALIZED)

    found = replace_rows(Kept(torch.arange(4), torch.arange(4)), torch.tensor([2, 0]), Kept(torch.tensor([7, 8]), torch.tensor([7, 8])))
    assert found.ids.tolist() == [8, 1, 7, 3]
    assert found.cache.tolist() == [0, 1, 2, 3]


def test_selected_rows_are_a_copy() -> None:
    whole = record(0, 3)
    select_rows(whole, torch.tensor([0, 1, 2])).ids.add_(1)
    assert whole.ids.tolist() == [0, 1, 2]


def test_tensors_are_listed_in_the_order_of_fields() -> None:
    whole = record(0, 3)
    assert [id(tensor) for tensor in tensors([whole, (whole.ids, None)])] == list(map(id, [whole.ids, *whole.inner.layers, whole.ids]))
    doubled = map_tensors(lambda tensor: tensor * 2, whole)
    assert doubled.ids.tolist() == [0, 2, 4]
    assert torch.equal(doubled.inner.layers[1], whole.inner.layers[1] * 2)
    assert whole.ids.tolist() == [0, 1, 2]


def test_records_of_equal_form_can_be_copied() -> None:
    assert form(record(0, 3)) == form(record(5, 3))
    assert form(record(0, 3)) != form(record(0, 4))
    assert form(Record(torch.zeros(1), Inner([]))) != form(Record(torch.zeros(1, dtype=torch.long), Inner([])))
    assert form([torch.zeros(1)]) != form((torch.zeros(1),))
    assert form(Record(torch.zeros(1), Inner([]))) != form(Inner([torch.zeros(1)]))
