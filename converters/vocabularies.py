"""Vocabularies as lists of pieces by id, and byte-level BPE tokenizers stored in two files."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import tokenizers

from specdec_cli.text.tokenize.segmenters import library_errors


def pieces_by_id(ids: Mapping[str, int]) -> list[str]:
    """The pieces in order of their ids, given the id of each piece; an id without a piece gets a placeholder."""
    pieces = {number: piece for piece, number in ids.items()}
    return [pieces.get(number, _unused(number)) for number in range(max(pieces, default=-1) + 1)]


def fill_unused(pieces: Sequence[str], rows: int) -> list[str]:
    """`pieces` with placeholders appended until there are `rows` pieces, the number of rows of the embedding."""
    return [*pieces, *(_unused(number) for number in range(len(pieces), rows))]


def byte_level_bpe(vocabulary: Path, merges: Path) -> tokenizers.Tokenizer:
    """The byte-level BPE tokenizer of GPT-2 and BART from its two files: `vocabulary` (pieces with ids) and `merges`.

    Raises ModelError if the files are malformed.
    """
    with library_errors(vocabulary.parent, "not byte-level BPE"):
        tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE.from_file(str(vocabulary), str(merges)))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    return tokenizer


def _unused(number: int) -> str:
    return f"<unused {number}>"
