"""Tidied text: the text that input-guided decoding of `correct` copies in place of the source."""

import re

_SPACES = re.compile(r"\s+(?=[.,;:!?])")


def tidied(text: str) -> str:
    """Return `text` with the changes that nearly all corrections make: no white space before the marks ".,;:!?", a capital letter
    at the start, and a full stop after a letter or digit at the end.

    Each of these changes that the copied text lacks costs a round or two.
    """
    text = _SPACES.sub("", text)
    return text[:1].upper() + text[1:] + ("." if text[-1:].isalnum() else "")
