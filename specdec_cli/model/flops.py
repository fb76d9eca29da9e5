"""Floating-point operations of matrix products, as PyTorch counts them while they are computed."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode


@contextmanager
def counting() -> Iterator[FlopCounterMode]:
    """Context manager that gives a counter of the operations in its `with` block; a multiplication with its addition are two.

    Padding and masked keys are counted, since they are computed. Attention uses plain products: the counter does not know the fused kernels
    of CPUs.
    """
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        yield counter
