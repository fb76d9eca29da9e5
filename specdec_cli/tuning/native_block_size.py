"""Adaptive number of drafted tokens in the native engine, by the same rules as decoding/pace.py."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from specdec_cli.decoding.costs import Costs
from specdec_cli.native.library import HEADER, check, load_library


class NativeBlockSize:
    """The native engine's statistics for choosing the number of drafted tokens of each round, 1 to `longest`, at the
    given `costs` of rounds.

    They serve batches of at most `rows` rows in at most `workers` threads that decode a batch each, for one decoding
    at a time. With `may_skip`, sentences are decoded without drafts where that is faster. `address` is the pointer
    of the C structure, for `Request.adaptive`. Raises NativeError for values out of range.
    """

    def __init__(self, costs: Costs, longest: int, rows: int, workers: int, *, may_skip: bool) -> None:
        self._library = load_library()
        made = ctypes.c_void_p()
        check(
            self._library.specdec_adaptive_create(ctypes.byref(costs_struct(costs)), longest, rows, workers, may_skip, ctypes.byref(made))
        )
        self.address = made

    @property
    def drafts(self) -> tuple[int, int]:
        """Rounds with a draft since construction, counted once for each row, and the total number of tokens that
        were drafted in them.
        """
        rounds, tokens = ctypes.c_int64(), ctypes.c_int64()
        self._library.specdec_adaptive_drafts(self.address, ctypes.byref(rounds), ctypes.byref(tokens))
        return rounds.value, tokens.value

    @property
    def pays(self) -> bool:
        """Whether drafting was expected to be faster for the sentences that were decoded last."""
        return bool(self._library.specdec_adaptive_pays(self.address))

    def __del__(self) -> None:
        if hasattr(self, "address"):
            self._library.specdec_adaptive_destroy(self.address)


class SharedBlockSizes:
    """The statistics of several decodings that may run at the same time: each borrows one NativeBlockSize, made with these
    arguments, and decodings that run one after the other use the same one.
    """

    def __init__(self, costs: Costs, longest: int, rows: int, workers: int, *, may_skip: bool) -> None:
        self._costs, self._longest, self._rows, self._workers, self._may_skip = costs, longest, rows, workers, may_skip
        self._all: list[NativeBlockSize] = []
        self._idle: list[NativeBlockSize] = []

    @contextmanager
    def borrow(self) -> Iterator[NativeBlockSize]:
        """Statistics that no other decoding uses inside the block."""
        try:
            own = self._idle.pop()
        except IndexError:
            own = NativeBlockSize(self._costs, self._longest, self._rows, self._workers, may_skip=self._may_skip)
            self._all.append(own)
        try:
            yield own
        finally:
            self._idle.append(own)

    @property
    def drafts(self) -> tuple[int, int]:
        """The sums of `NativeBlockSize.drafts` over all statistics; exact only while no decoding runs."""
        counts = [each.drafts for each in self._all]
        return sum(rounds for rounds, _ in counts), sum(tokens for _, tokens in counts)


def costs_struct(costs: Costs) -> Any:
    """Convert costs to the C structure of the native library."""
    pair = ctypes.c_double * 2
    verifying, drafting = ((pair * 2)(*(pair(*times) for times in part)) for part in (costs.verifying, costs.drafting))
    return HEADER.structs["costs"](*costs.sizes, pair(*costs.plain), verifying, drafting)
