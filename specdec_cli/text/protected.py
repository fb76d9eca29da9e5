"""What in a text must stay as it is: addresses and code."""

import re

_PROTECTED = re.compile(
    r"(?<![\w`])(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?![\w`])"  # code in backquotes, not apostrophes that were meant
    r"|(?<![a-z0-9+.-])(?:[a-z][a-z0-9+.-]*://|www\.)[^\s<>\"]*[^\s<>\".,;:!?)\]}']"  # web addresses, without the stop after them
    r"|(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+",  # e-mail addresses
    re.IGNORECASE,
)


def protected_spans(text: str) -> list[tuple[int, int]]:
    """Offsets (code points, half-open) of web and e-mail addresses and of code in backquotes, in order."""
    return [match.span() for match in _PROTECTED.finditer(text)]
