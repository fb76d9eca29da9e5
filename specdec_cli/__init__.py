"""Speculative decoding for sequence-to-sequence models: the same output as greedy decoding, in fewer steps."""

__version__ = "0.1.0"
