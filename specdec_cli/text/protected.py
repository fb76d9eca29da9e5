"""What in a text must stay as it is: addresses and code."""

import re

_PROTECTED = re.compile(
    r"(?P<ticks>`+).+?(?P=ticks)"  # code in backquotes
    r"|(?:[a-z][a-z0-9+.-]*://|www\.)[^\s<>\"]+"  # web addresses
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+",  # e-mail addresses
    re.IGNORECASE,
)


def protected_spans(text: str) -> list[tuple[int, int]]:
    """Offsets (code points, half-open) of web and e-mail addresses and of code in backquotes, in order."""
    return [match.span() for match in _PROTECTED.finditer(text)]
