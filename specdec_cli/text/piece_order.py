"""The order of a SentencePiece vocabulary: frequent pieces first, in the model file itself.

A drafter's shortlist is the tokens with the lowest ids. SentencePiece orders pieces by their scores over the text of both
languages, so a shortlist of a joint vocabulary is partly source words.
"""

from collections.abc import Iterator, Sequence

from specdec_cli.errors import ModelError

_PIECES_TAG = 0x0A
"""The tag byte of a piece in SentencePiece's file format, a protocol buffer: field 1, a value with a length."""
_WITH_LENGTH = 2


def frequent_first(counts: Sequence[int], first: int) -> list[int]:
    """All ids in their new order: those below `first` where they are, then the others by falling count, equal counts by id."""
    return [*range(first), *sorted(range(first, len(counts)), key=lambda each: (-counts[each], each))]


def reorder_pieces(model: bytes, order: Sequence[int]) -> bytes:
    """The SentencePiece model file `model` with piece order[i] as piece i; pieces keep their scores.

    Raises ModelError if `model` is not such a file, or does not have as many pieces as `order`.
    """
    parts = list(_fields(model))
    pieces = [part for tag, part in parts if tag == _PIECES_TAG]
    if len(pieces) != len(order):
        raise ModelError(f"the SentencePiece model has {len(pieces)} pieces, not {len(order)}")
    return b"".join([*(pieces[each] for each in order), *(part for tag, part in parts if tag != _PIECES_TAG)])


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields of a protocol buffer whose values all have a length: the tag byte, and all bytes of the field."""
    place = 0
    while place < len(message):
        tag = message[place]
        if tag & 7 != _WITH_LENGTH or tag >> 7:
            raise ModelError("not a SentencePiece model file")
        length, start = _number(message, place + 1)
        if start + length > len(message):
            raise ModelError("the SentencePiece model file is truncated")
        yield tag, message[place : start + length]
        place = start + length


def _number(message: bytes, place: int) -> tuple[int, int]:
    """The number of variable length at `place`, and the place after it."""
    value = 0
    for shift in range(0, 35, 7):
        if place >= len(message):
            break
        value |= (message[place] & 0x7F) << shift
        place += 1
        if not message[place - 1] >> 7:
            return value, place
    raise ModelError("the SentencePiece model file is truncated")
