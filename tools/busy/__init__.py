"""Measurement of the native engine beside busy processes, and the table of its results."""
