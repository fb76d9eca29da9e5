"""The memory of one sentence is used again for the next one; rows whose outputs outgrow their first room get more."""

import ctypes
import random
from dataclasses import replace
from typing import Any

import pytest

from specdec_cli.model.bundle_info import describe_bundle
from specdec_cli.model.drafter_config import DrafterConfig
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


SHORT = (3, 30, 9, 1, 17, 5)
"""Tokens of sources, without EOS; each output has at least 60."""
REQUESTS = (
    Request(with_scores=True),
    Request("lookup", block_size=15, with_scores=True),
    Request("specdec", block_size=10, with_scores=True),
    Request("specdec", block_size=10, top_beta=5, tolerance=3.0, with_scores=True),
    Request("beam", beam_size=3, n_best=3),
)


@pytest.fixture(scope="module")
def model() -> NativeModel:
    bundle, folder = describe_bundle(SHIPPED / "en-de"), SHIPPED / "en-de"
    assert isinstance(bundle.drafter_config, DrafterConfig)
    verifier, drafter = (folder / part / "model.safetensors" for part in ("verifier", "drafter"))
    return NativeModel(bundle.shape, verifier, bundle.drafter_config, drafter)


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda request: f"{request.decoding}-{request.top_beta}")
def test_outputs_that_outgrow_their_rows_equal_those_of_one_row_with_room_for_all(model: NativeModel, request_: Request) -> None:
    generator = random.Random(1)
    sources = [[*generator.choices(range(8, 2000), k=length), 3] for length in SHORT]
    long = replace(request_, min_length=60, max_length=80, forced_end=True)
    alone = sorted(decode(model, sources, long), key=lambda each: each.number)
    assert min(len(each.ids) for each in alone) > 60
    for batch in (2, 5):
        assert sorted(decode(model, sources, replace(long, batch=batch)), key=lambda each: each.number) == alone
