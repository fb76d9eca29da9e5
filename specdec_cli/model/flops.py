"""Floating-point operations of matrix products, as PyTorch counts them while they are computed."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode


@contextmanager
def counting(device: str = "cpu") -> Iterator[FlopCounterMode]:
    """Context manager that gives a counter of the operations in its `with` block; a multiplication with its addition are two.

    Padding and masked keys are counted, since they are computed. On the device "cpu", attention uses plain products: the counter does not
    know its fused kernels.
    """
    with sdpa_kernel(SDPBackend.MATH) if device == "cpu" else nullcontext(), FlopCounterMode(display=False) as counter:
        yield counter
