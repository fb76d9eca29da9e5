"""Benchmark of quality and speed: rows, timing, scores, report."""
