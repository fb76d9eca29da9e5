"""Tables of sinusoidal positions, as other toolkits compute them: stored with the model, so that every bit is theirs."""

import math

import numpy
import torch
from torch import Tensor


def interleaved_frequencies(positions: int, width: int) -> Tensor:
    """Marian's table (positions, width): sines before cosines, frequencies 10000 ** (-2 i / width) (Vaswani et al. 2017)."""
    place, unit = numpy.arange(positions)[:, None], numpy.arange(width)[None]
    angles = place / numpy.power(10000, 2 * (unit // 2) / width)
    table = numpy.concatenate([numpy.sin(angles[:, 0::2]), numpy.cos(angles[:, 1::2])], axis=1)
    return torch.from_numpy(table).float()


def fairseq_sinusoids(positions: int, width: int, padding: int) -> Tensor:
    """fairseq's table (positions, width): frequencies up to 1/10000 (tensor2tensor's), and zeros for padding."""
    half = width // 2
    frequencies = torch.exp(torch.arange(half, dtype=torch.float) * -(math.log(10000) / (half - 1)))
    angles = torch.arange(positions, dtype=torch.float)[:, None] * frequencies
    table = torch.cat([angles.sin(), angles.cos()], dim=1)
    if width % 2:
        table = torch.cat([table, torch.zeros(positions, 1)], dim=1)
    table[padding] = 0
    return table
