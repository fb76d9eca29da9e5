"""Models in bytes: weights to a scale per output, inputs to a range per row, products in integers."""

from specdec_cli.model.int8.model import first_choices, log_probabilities, quantize

__all__ = ["first_choices", "log_probabilities", "quantize"]
