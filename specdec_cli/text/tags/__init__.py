"""Inline tags: texts without them, and their places in a translation."""
