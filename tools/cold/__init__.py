"""The start of a command: its time, its memory, and what of them is due to the packing of weights."""
