"""The processors of this machine, how libraries compute on them, and the memory of this process."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

MKL_VARIABLE, MKL_MODE = "MKL_CBWR", "AUTO,STRICT"
"""On Intel processors, MKL sums a float32 product in another order when the number of rows changes, so that the logits of a block
differ from those of single steps. This environment variable keeps one order; MKL reads it when it is first used.
"""
_STATUS = Path("/proc/self/status")


def usable_processors() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def keep_order_of_sums() -> None:
    """Set MKL_VARIABLE for this process, which belongs to specdec, and its children; a value that the user has set is kept."""
    os.environ.setdefault(MKL_VARIABLE, MKL_MODE)


def has_bfloat16_products(device: str) -> bool:
    """Whether the device ("cpu" or "cuda") has instructions that multiply bfloat16 matrices, faster than those for float32.

    On a CPU these are AVX-512 BF16 and AMX. Found by its instructions and not by timing, which would let the output depend on how busy
    the machine is.
    """
    import torch

    if device == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    capabilities: dict[str, object] = getattr(torch.cpu, "get_capabilities", dict)()
    return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))


def peak_resident_mb() -> float | None:
    """The largest resident memory of this process so far, in MB (2**20 bytes); None on systems without it, such as Windows."""
    # /proc is preferred to getrusage, because on Linux a new process inherits the value of getrusage from its parent.
    if _STATUS.exists():
        for line in _STATUS.read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


TRIM_THRESHOLD, TOP_PAD, MMAP_THRESHOLD, MMAP_MAX, ARENA_MAX = -1, -2, -3, -4, -8
"""Options for `set_allocator_options`: the constants M_TRIM_THRESHOLD, M_TOP_PAD and so on of glibc's malloc.h."""


def set_allocator_options(values: Mapping[int, int]) -> None:
    """Set each option to its value by `mallopt`, a function of glibc. Without this function, do nothing."""
    import ctypes

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        for option, value in values.items():
            mallopt(option, value)
