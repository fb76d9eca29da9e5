"""Options of glibc's memory allocator."""

import ctypes
import sys
from collections.abc import Mapping

TRIM_THRESHOLD, TOP_PAD, MMAP_THRESHOLD, MMAP_MAX, ARENA_MAX = -1, -2, -3, -4, -8
"""The numbers of options in glibc's malloc.h."""


def set_allocator_options(values: Mapping[int, int]) -> None:
    """Set options of the allocator by their numbers (`mallopt` in glibc); do nothing where there is no such function."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        for option, value in values.items():
            mallopt(option, value)
