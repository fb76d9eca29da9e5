"""Vocabularies as lists of pieces by id, and byte-level BPE, which several toolkits store in two files."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import tokenizers

from specdec_cli.text.segmenters import library_errors


def in_order(ids: Mapping[str, int]) -> list[str]:
    """Pieces by id; ids that nobody has get a name."""
    pieces = {number: piece for piece, number in ids.items()}
    return [pieces.get(number, _unused(number)) for number in range(max(pieces, default=-1) + 1)]


def filled(pieces: Sequence[str], rows: int) -> list[str]:
    """As many pieces as an embedding has rows; those without a piece get a name."""
    return [*pieces, *(_unused(number) for number in range(len(pieces), rows))]


def byte_level_bpe(vocabulary: Path, merges: Path) -> tokenizers.Tokenizer:
    """GPT-2's and BART's two files as one tokenizer. Raises ModelError."""
    with library_errors(vocabulary.parent, "not byte-level BPE"):
        tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE.from_file(str(vocabulary), str(merges)))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    return tokenizer


def _unused(number: int) -> str:
    return f"<unused {number}>"
