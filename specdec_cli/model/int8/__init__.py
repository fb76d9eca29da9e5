"""Int8 models: weights with a scale per output, inputs with a range per row, and integer matrix products."""

from specdec_cli.model.int8.model import quantize

__all__ = ["quantize"]
