"""`specdec bench`: input, rows, the processes that measure them, and the table."""
