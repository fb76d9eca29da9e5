"""The precision that suits a machine, chosen by its hardware and compiler and not by timing.

A timed choice would let the output depend on how busy the machine is.
"""

import torch

from specdec_cli.kernels.build import load_kernels


def best_precision(device: str) -> str:
    """The precision that the setting `auto` stands for: "int8" if `device` is "cpu" and compiled kernels can be
    loaded, else "float32".
    """
    return "int8" if device == "cpu" and load_kernels() is not None else "float32"


def has_bfloat16_products() -> bool:
    """Whether the CPU has instructions that multiply bfloat16 matrices (AVX-512 BF16 or AMX), faster than those for
    float32.
    """
    capabilities: dict[str, object] = getattr(torch.cpu, "get_capabilities", dict)()
    return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))
