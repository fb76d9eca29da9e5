"""Implementations of the steps of a round: PyTorch's operators, compiled kernels, CUDA graphs."""
