"""Metrics of quality: pure functions of sources, outputs and references."""
