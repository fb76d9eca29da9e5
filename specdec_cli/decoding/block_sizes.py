"""Validation of block sizes; without torch."""

from specdec_cli.errors import UsageError


def check_block_size(block_size: int, largest: int) -> None:
    """Raise UsageError if `block_size` is below 1 or above `largest`, the block size for which the drafter was trained."""
    if not 1 <= block_size <= largest:
        raise UsageError(f"block size {block_size}: this bundle's drafter works for 1 to {largest}")
