"""What the kernels cannot do. Without Triton, so that it can be asked everywhere."""

import os
from importlib.util import find_spec

import torch

from specdec_cli.kernels.tiles import WIDEST_ROW
from specdec_cli.model.config import TransformerConfig

DESCRIPTION = "Triton kernels"
"""How they are named."""
WIDEST_HEAD = 128
LARGEST_VOCABULARY = 2**18
TYPES = (torch.float32, torch.float16, torch.bfloat16)


def supported(config: TransformerConfig, device: torch.device, dtype: torch.dtype = torch.float16) -> str | None:
    """Why the kernels cannot compute a model of `config` with weights of `dtype` on `device`; None if they can.

    They run on GPUs. On a CPU they run under Triton's interpreter (TRITON_INTERPRET=1), far too slowly for anything but tests of tiny
    models.
    """
    interpreted = device.type == "cpu" and os.environ.get("TRITON_INTERPRET") == "1"
    if device.type != "cuda" and not interpreted:
        return f"kernels run on a GPU, not on {device.type}"
    if find_spec("triton") is None:
        return "triton is not installed"
    if dtype not in TYPES:
        return f"kernels do not compute in {dtype}"
    if interpreted and dtype is torch.bfloat16:
        return "Triton's interpreter does not multiply numbers in bfloat16"
    if config.head_width > WIDEST_HEAD:
        return f"heads are {config.head_width} wide, and kernels have at most {WIDEST_HEAD}"
    if config.width > WIDEST_ROW:
        return f"states are {config.width} wide, and kernels have at most {WIDEST_ROW}"
    if config.vocabulary_size > LARGEST_VOCABULARY:
        return f"the vocabulary has {config.vocabulary_size} tokens, and kernels have at most {LARGEST_VOCABULARY}"
    return None
