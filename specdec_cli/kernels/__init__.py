"""C kernels that are compiled on the user's machine: passes through int8 models, and the steps of a round on a CPU."""
