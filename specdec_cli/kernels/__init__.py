"""Triton kernels: a model's networks on a GPU, with the same bits for a row whatever else is computed with it."""
