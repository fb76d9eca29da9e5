"""The engines, which decode sentences: the native one in int8 on a CPU, and the reference one by PyTorch; and the costs of their rounds."""
