"""Forms of pieces: numbers that are equal for pieces with the same text, without spaces and case: " Tap", "Tap" and "tap"."""

from array import array
from collections.abc import Callable, Sequence

SPACE = "\u2581"
"""The mark of SentencePiece before a piece that begins a word."""
BYTE_SPACE = "\u0120"
"""The mark of byte-level BPE before a piece that begins a word."""


def forms_of(vocabulary: Sequence[str], starts_word: Callable[[str], bool]) -> bytes:
    """The form of each piece of `vocabulary`: an int32, 4 bytes in the order of this machine.

    The form is positive if the piece has a letter, else negative. Pieces in angle brackets count as having none: </s> is no text, and
    <0xC3> is one byte.
    """
    numbers: dict[str, int] = {}
    forms = array("i")
    # In byte-level BPE each character stands for a byte, so changing its case would give another byte.
    is_byte_level = any(piece.startswith(BYTE_SPACE) and starts_word(piece) for piece in vocabulary)
    for piece in vocabulary:
        marked = piece.startswith((SPACE, BYTE_SPACE)) and starts_word(piece)
        text = piece[1:] if marked else piece
        text = text if is_byte_level else text.casefold()
        number = numbers.setdefault(text, len(numbers) + 1)
        in_brackets = piece.startswith("<") and piece.endswith(">")
        forms.append(number if any(map(str.isalpha, text)) and not in_brackets else -number)
    return forms.tobytes()
