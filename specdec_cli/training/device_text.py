"""Texts on the device: all tokens in one array, from which batches are gathered without the host touching a token."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor


class DeviceRows:
    """Rows of numbers, one behind the other in one tensor of type `kind` on `device`."""

    def __init__(self, rows: Sequence[Sequence[float]], device: torch.device, kind: torch.dtype = torch.int32) -> None:
        lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
        values = torch.empty(int(lengths.sum()), dtype=kind)
        ends = np.cumsum(lengths).tolist()
        array = values.numpy()
        for row, end in zip(rows, ends, strict=True):
            array[end - len(row) : end] = row
        self._values = values.to(device)
        self._starts = torch.from_numpy(np.cumsum(lengths) - lengths).to(device)
        self._lengths = torch.from_numpy(lengths).to(device)

    def padded(self, indices: Tensor, width: int, padding: int) -> Tensor:
        """The rows with the indices (B,), on the device, padded on the right with `padding`: (B, `width`), int64 or of the type of the
        rows if they are not integers.
        """
        positions = torch.arange(width, device=indices.device)
        at = (self._starts[indices, None] + positions).clamp_max(len(self._values) - 1)
        values = self._values[at]
        return torch.where(positions < self._lengths[indices, None], values if values.is_floating_point() else values.long(), padding)
