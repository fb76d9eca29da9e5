"""Decodings other than the loop: beam search, and the drafter alone."""
