"""What the hardware computes fast, found by its instructions and not by timing.

A timed choice would let the output depend on how busy the machine is.
"""

import torch


def has_bfloat16_products() -> bool:
    """Whether the CPU has instructions that multiply bfloat16 matrices (AVX-512 BF16 or AMX), faster than those for
    float32.
    """
    capabilities: dict[str, object] = getattr(torch.cpu, "get_capabilities", dict)()
    return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))
