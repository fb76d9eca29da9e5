"""Decoding: the draft-and-verify loop, its drafters, and the searches that need no drafts."""
