"""Functions for drafters with a trained network."""

import torch
from torch import Tensor


def keep_last_state(states: Tensor, counts: Tensor, kept: Tensor) -> None:
    """Copy to `kept` (B, W), in place, the state that predicted the last accepted token: the one with index `counts`
    (B,) - 1 (0 if `counts` is 0) of the verifier's `states` (B, Q, W).
    """
    last = (counts - 1).clamp_min(0)[:, None, None].expand(-1, 1, states.shape[2])
    torch.gather(states, 1, last, out=kept[:, None])
