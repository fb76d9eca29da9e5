"""Options of glibc's memory allocator."""

import ctypes
import sys
from collections.abc import Mapping

TRIM_THRESHOLD, TOP_PAD, MMAP_THRESHOLD, MMAP_MAX, ARENA_MAX = -1, -2, -3, -4, -8
"""Options for `set_allocator_options`: the constants M_TRIM_THRESHOLD, M_TOP_PAD and so on of glibc's malloc.h."""


def set_allocator_options(values: Mapping[int, int]) -> None:
    """Set each option to its value by `mallopt`, a function of glibc. Without this function, do nothing."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        for option, value in values.items():
            mallopt(option, value)
