"""Translation memories and earlier versions of a text: finds the texts that drafts are made of."""

SIMILARITY = 70.0
"""Least similarity of a draft's source in percent, if none is given."""
