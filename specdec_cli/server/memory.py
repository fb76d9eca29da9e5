"""Memory that the C library keeps between batches."""

from specdec_cli.allocator import MMAP_THRESHOLD, TRIM_THRESHOLD, set_allocator_options

_KEPT = 64 * 2**20
_LARGEST_KEPT = 32 * 2**20  # glibc takes no larger value


def keep_freed_memory() -> None:
    """Let glibc keep freed memory of this process, up to 64 MiB in each of its arenas; elsewhere, do nothing.

    Each batch allocates a few MiB and frees them. By default that memory goes back to the system, and the next batch has a page fault
    for each page of it.
    """
    set_allocator_options({TRIM_THRESHOLD: _KEPT, MMAP_THRESHOLD: _LARGEST_KEPT})
