"""The precision that suits a machine, chosen by what its hardware and compiler can do and never by timing.

A timed choice would let the output depend on how busy the machine is.
"""

import torch

from specdec_cli.kernels.build import load_kernels


def best_precision(device: str) -> str:
    """The precision that `auto` stands for: int8 on a CPU with compiled kernels, else float32."""
    return "int8" if device == "cpu" and load_kernels() is not None else "float32"


def has_bfloat16_products() -> bool:
    """Whether the CPU multiplies matrices of bfloat16 faster than those of float32."""
    capabilities: dict[str, object] = getattr(torch.cpu, "get_capabilities", dict)()
    return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))
