"""The Transformer, the drafter network, their caches, and the bundle folder on disk."""
