"""Sinusoidal position tables of other toolkits, which are stored with a converted model, so that their values are exactly equal."""

import math

import numpy
import torch
from torch import Tensor


def interleaved_frequencies(positions: int, width: int) -> Tensor:
    """The float32 position table (positions, width) of Marian models in transformers.

    The first half of a row are sines, the second half cosines, of position * 10000 ** (-2 i / width), i from 0 to width / 2 - 1;
    the position is the number of the row, from 0.
    """
    position, unit = numpy.arange(positions)[:, None], numpy.arange(width)[None]
    angles = position / numpy.power(10000, 2 * (unit // 2) / width)
    table = numpy.concatenate([numpy.sin(angles[:, 0::2]), numpy.cos(angles[:, 1::2])], axis=1)
    return torch.from_numpy(table).float()


def tensor2tensor_sinusoids(positions: int, width: int) -> Tensor:
    """The float32 position table (positions, width) of tensor2tensor and Marian; `width` must be even.

    The first half of a row are sines, the second half cosines, of the row's number (from 0) times width / 2 frequencies, which
    fall from 1 to 1/10000 in a geometric progression.
    """
    half = width // 2
    frequencies = torch.exp(torch.arange(half, dtype=torch.float) * -(math.log(10000) / (half - 1)))
    angles = torch.arange(positions, dtype=torch.float)[:, None] * frequencies
    return torch.cat([angles.sin(), angles.cos()], dim=1)


def fairseq_sinusoids(positions: int, width: int, padding: int) -> Tensor:
    """The float32 position table (positions, width) of fairseq: that of `tensor2tensor_sinusoids`, with zeros in row `padding`."""
    table = tensor2tensor_sinusoids(positions, width)
    table[padding] = 0
    return table
