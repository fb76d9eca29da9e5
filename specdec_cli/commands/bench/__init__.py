"""`specdec bench`: input, rows, the processes that measure rows, and tables."""
