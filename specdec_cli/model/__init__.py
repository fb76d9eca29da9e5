"""The Transformer, the trained drafters, their caches, and bundles on disk."""
