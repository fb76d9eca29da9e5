"""Models in bytes: weights to a scale per output, inputs to a range per row, products in integers."""

from specdec_cli.model.int8.model import quantize

__all__ = ["quantize"]
