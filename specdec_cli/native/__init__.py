"""The native engine for CPUs: C code that decodes a queue of sentences in int8, and its Python binding."""
