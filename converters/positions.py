"""Tables of sinusoidal positions, as other toolkits compute them: stored with the model, so that every bit is theirs."""

import math

import numpy
import torch
from torch import Tensor


def interleaved_frequencies(positions: int, width: int) -> Tensor:
    """transformers' table for Marian (positions, width): sines before cosines, frequencies 10000 ** (-2 i / width)."""
    place, unit = numpy.arange(positions)[:, None], numpy.arange(width)[None]
    angles = place / numpy.power(10000, 2 * (unit // 2) / width)
    table = numpy.concatenate([numpy.sin(angles[:, 0::2]), numpy.cos(angles[:, 1::2])], axis=1)
    return torch.from_numpy(table).float()


def tensor2tensor_sinusoids(positions: int, width: int) -> Tensor:
    """tensor2tensor's table (positions, width), and Marian's own: sines before cosines, frequencies down to 1/10000.

    `width` must be even.
    """
    half = width // 2
    frequencies = torch.exp(torch.arange(half, dtype=torch.float) * -(math.log(10000) / (half - 1)))
    angles = torch.arange(positions, dtype=torch.float)[:, None] * frequencies
    return torch.cat([angles.sin(), angles.cos()], dim=1)


def fairseq_sinusoids(positions: int, width: int, padding: int) -> Tensor:
    """fairseq's table (positions, width): tensor2tensor's, with zeros for padding."""
    table = tensor2tensor_sinusoids(positions, width)
    table[padding] = 0
    return table
