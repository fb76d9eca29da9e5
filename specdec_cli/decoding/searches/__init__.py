"""Decodings that do not use the loop: beam search and Mask-Predict."""
