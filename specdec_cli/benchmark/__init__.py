"""How good and how fast: scores, timing, and the report."""
