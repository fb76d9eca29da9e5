"""Draft, verify, accept: the loop, its drafters, and the searches that stand beside it."""
