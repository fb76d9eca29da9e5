"""How the steps of a round are executed: operators, compiled kernels, CUDA graphs."""
