"""What the hardware computes fast, found by its instructions and not by timing.

A timed choice would let the output depend on how busy the machine is.
"""

import torch


def has_bfloat16_products(device: str) -> bool:
    """Whether the device ("cpu" or "cuda") has instructions that multiply bfloat16 matrices, faster than those for float32.

    On a CPU these are AVX-512 BF16 and AMX.
    """
    if device == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    capabilities: dict[str, object] = getattr(torch.cpu, "get_capabilities", dict)()
    return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))
