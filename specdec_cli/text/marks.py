"""Characters by what they do in a text: end sentences, open and close quotations and brackets, join numbers, show pictures."""

STOPS = ".?!\u3002\uff01\uff1f"
"""What ends a sentence; an ellipsis may stand inside of one."""
ELLIPSIS, DOTS = "\u2026", "..."
DASHES = "-\u2013\u2014"
APOSTROPHES = "'\u2019"
ACCENTS = "`\u00b4\u2032\uff07"
"""What people type between two letters in place of an apostrophe."""
QUOTATION_MARKS = {
    '"': '"',
    "\u201c": "\u201d",
    "\u201e": '\u201c\u201d"',
    "\u00ab": "\u00bb",
    "\u00bb": "\u00ab",
    "'": "'",
    "\u2018": "\u2019",
    "\u201a": "\u2018\u2019'",
    "\u2039": "\u203a",
    "\u203a": "\u2039",
}
"""For each mark that opens a quotation in some language, those that close it."""
OPENING = "\"'([{\u201c\u201d\u201e\u201a\u2018\u2039\u203a\u00ab\u00bb\u00bf\u00a1\u300c\u300e\uff08\u300a"
"""What may stand directly before the first word of a sentence."""
ONLY_OPENING = "([{\u201e\u201a\u2039\u00ab\u00bf\u00a1"
"""Those that never stand behind a sentence."""
CLOSING = "\"')]}\u201c\u201d\u2019\u2018\u2039\u203a\u00ab\u00bb\u300d\u300f\uff09\u300b"
"""What may stand directly behind the last mark of a sentence."""
ENGLISH_OPENING, ENGLISH_CLOSING = "\"'\u201c\u2018([", "\"'\u201d\u2019)"
"""The same in English texts."""
FIXED_SPACES = "\u00a0\u202f"
"""No-break spaces."""
THIN_SPACES = f"\u2009{FIXED_SPACES}"
"""Spaces inside of numbers and before units."""
PICTURES = r"\u2190-\u21ff\u2300-\u23ff\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff\U0001f000-\U0001faff"
"""Ranges of a character class: arrows, symbols and emoji."""
