"""The benchmark of decodings: the rows of its table, their execution and timing, scores, and reports."""
