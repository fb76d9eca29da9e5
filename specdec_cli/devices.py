"""Devices, and what is chosen for each where nothing else is given."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_GPU_DRIVERS = ("/dev/nvidiactl", "/dev/nvidia0", "/dev/kfd", "/dev/dxg")
"""Device files that exist if a driver is installed for a GPU that PyTorch can use."""


@dataclass(frozen=True)
class Defaults:
    """What depends on the device unless the user gives it.

    - `sentences`: the largest number of sentences that are decoded together.
    - `teacher_tokens`: the largest number of padded source tokens in a batch of a teacher, for each thread of a CPU.
    """

    sentences: int
    teacher_tokens: int


DEFAULTS: Mapping[str, Defaults] = {"cpu": Defaults(64, 1024), "cuda": Defaults(256, 16384)}
"""The defaults of each device. On a GPU larger batches take little more time for a round; the buffers of more than 256 sentences, of
several lengths, would be freed and made again.
"""


def by_device(name: str) -> str:
    """A field of Defaults on each device, in words."""
    return ", ".join(f"{getattr(defaults, name):,} on {device}" for device, defaults in DEFAULTS.items())


def has_gpu() -> bool:
    """Whether PyTorch can use a GPU. It is imported only where a driver is installed."""
    if not any(Path(device).exists() for device in _GPU_DRIVERS):
        return False
    import torch

    return torch.cuda.is_available()


def found_device(device: str) -> str:
    """The device "cpu" or "cuda" that `device`, which may be "auto", stands for."""
    return ("cuda" if has_gpu() else "cpu") if device == "auto" else device


def free_memory(device: str) -> int:
    """Free memory of the device "cpu" or "cuda" in bytes, with what PyTorch keeps of a GPU's for later tensors; 0 if that is unknown."""
    if device == "cuda":
        import torch

        if not torch.cuda.is_available():
            return 0
        return int(torch.cuda.mem_get_info()[0]) + torch.cuda.memory_reserved() - torch.cuda.memory_allocated()
    described = Path("/proc/meminfo")
    lines = described.read_text().splitlines() if described.exists() else []
    return int(next((line.split()[1] for line in lines if line.startswith("MemAvailable:")), "0")) * 2**10
