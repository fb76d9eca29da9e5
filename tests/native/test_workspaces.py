"""The memory of one sentence is used again for the next one."""

import ctypes
import random
from typing import Any

import pytest

from specdec_cli.model.bundle_info import describe_bundle
from specdec_cli.native.model import NativeModel
from specdec_cli.opening.models import SHIPPED
from tests.native.decoding_requests import Request, decode

MEBIBYTE = 1 << 20
LENGTHS = (3, 200, 4, 40, 200, 1, 90, 5)
"""Tokens of sentences that are decoded one after the other, without EOS."""


@pytest.mark.parametrize(
    ("first", "second", "again"),
    [
        (MEBIBYTE, MEBIBYTE, True),
        (MEBIBYTE, MEBIBYTE // 2, True),
        (MEBIBYTE, MEBIBYTE // 2 - 4096, False),
        (MEBIBYTE, MEBIBYTE + 1, False),
        (64, 0, True),
        (MEBIBYTE, 0, False),
    ],
)
def test_a_block_is_taken_again_for_sizes_from_about_half_of_its_own(probe: Any, first: int, second: int, again: bool) -> None:
    assert probe.probe_taken_again(first, second) == again


def sources() -> list[list[int]]:
    generator = random.Random(1)
    return [[*generator.choices(range(8, 2000), k=length), 3] for length in LENGTHS]


def opened() -> NativeModel:
    bundle = describe_bundle(SHIPPED / "en-gec")
    return NativeModel(bundle.shape, SHIPPED / "en-gec" / "verifier" / "model.safetensors")


@pytest.mark.parametrize(
    "request_", [Request(max_length=20, with_scores=True), Request("lookup", block_size=5, max_length=20, with_scores=True)]
)
def test_sentences_of_other_lengths_before_do_not_change_a_sentence(request_: Request) -> None:
    shared = opened()
    one_after_the_other = [next(decode(shared, [source], request_)) for source in sources()]
    assert one_after_the_other == [next(decode(opened(), [source], request_)) for source in sources()]


def test_the_memory_of_a_long_sentence_is_freed_after_short_ones() -> None:
    model, long, short = opened(), sources()[1], sources()[0]
    list(decode(model, [short] * 2, Request()))
    before = allocated()
    list(decode(model, [long], Request(max_length=3)))
    kept = allocated() - before
    for _ in range(2):
        list(decode(model, [short], Request()))
    assert kept > MEBIBYTE
    assert allocated() - before < kept / 8


class MallocInfo(ctypes.Structure):
    """What mallinfo2() of the C library returns."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")
    ]


def allocated() -> int:
    """Bytes that malloc() has given out in this process."""
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallinfo2"):
        pytest.skip("the C library does not count what malloc() gives out")
    libc.mallinfo2.restype = MallocInfo
    info = libc.mallinfo2()
    return int(info.uordblks + info.hblkhd)
