"""Searches that do not keep to the verifier's first choice; they stand beside the loop."""
