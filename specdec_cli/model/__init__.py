"""The Transformer, the trained drafters, their caches, and bundles on disk.

Letters in the shapes of tensors: B rows of a batch, S positions or keys, M source positions, Q query positions, T
target positions, k drafted tokens or slots, V tokens of the vocabulary, W units of a state, H attention heads, D
units of a head, L layers.
"""
