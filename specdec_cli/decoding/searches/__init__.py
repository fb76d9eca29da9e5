"""Decodings that do not use the loop: beam search, Mask-Predict, and the drafter alone."""
