"""Misspelt words, and counts of word n-grams."""
