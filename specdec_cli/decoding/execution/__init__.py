"""Implementations of the steps of a round: PyTorch's operators and CUDA graphs."""
