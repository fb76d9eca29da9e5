"""Lengths in UTF-16 code units, in which the clients of LanguageTool count."""


def utf16_length(text: str) -> int:
    """The number of UTF-16 code units of `text`."""
    return len(text) if text.isascii() else len(text) + sum(ord(character) > 0xFFFF for character in text)
