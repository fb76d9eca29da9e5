"""Triton kernels: a model's networks on a GPU, with the same bits for a row whatever else is computed with it.

A kernel is a function with `triton.jit`, and the function below it launches it. A launch runs many programs, each of which is a block of
threads and computes a part of the result (`tl.program_id` tells which), a tile of numbers at a time. Arguments of type `tl.constexpr` are
constants of the compiled code; an argument that is None, too.
"""
