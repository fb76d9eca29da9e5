"""Spans that must not change, and what the model reads in their place."""
