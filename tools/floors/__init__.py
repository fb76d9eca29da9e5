"""Measurement of the parts of a round of the native engine, beside the least time that the machine could take for them."""
