"""Initialisation of a Transformer from a trained one with another vocabulary."""

from dataclasses import replace

import torch
from torch import Tensor

from specdec_cli.errors import UsageError
from specdec_cli.model.bundle import Bundle
from specdec_cli.model.transformer import Transformer
from specdec_cli.text.tokenize.sentencepiece import BOS, EOS, MASK, PADDING
from specdec_cli.text.tokenize.tokenizer import Tokenizer

# A prefix for pieces that do not start a word, so that SentencePiece adds no word boundary before them.
_FENCE = "\u0001"


def with_vocabulary(first: Bundle, subwords: Tokenizer, dropout: float) -> Transformer:
    """A copy of the verifier of `first` with the vocabulary of the tokenizer `subwords`.

    `dropout` is the dropout rate of the copy. The embedding and the output bias of a new piece are the means over the pieces into
    which the tokenizer of `first` splits the text of the new piece (Gee et al. 2022, Fast Vocabulary Transfer). Raises UsageError if
    `first` has separate vocabularies for source and target.
    """
    config = first.verifier.config
    if subwords is first.tokenizer:
        same = Transformer(config, dropout)
        same.load_state_dict(first.verifier.state_dict())
        return same
    if not first.tokenizer.shared:
        raise UsageError("the vocabulary of a model with separate source and target vocabularies cannot be changed")
    config = replace(config, vocabulary_size=len(subwords), padding=PADDING, eos=EOS, decoder_start=BOS, mask=MASK)
    transformer = Transformer(config, dropout)
    parts = [_parts(piece, first.tokenizer) for piece in subwords.vocabulary()]
    transformer.load_state_dict(
        {name: _means(value, parts) if _is_by_piece(name) else value for name, value in first.verifier.state_dict().items()}
    )
    return transformer


def _is_by_piece(name: str) -> bool:
    return name.startswith(("output.", "embedding.tokens", "encoder.embedding.tokens"))


def _means(rows: Tensor, parts: list[list[int]]) -> Tensor:
    return torch.stack([rows[ids].mean(0) for ids in parts])


def _parts(piece: str, tokenizer: Tokenizer) -> list[int]:
    """The ids into which `tokenizer` encodes the text of `piece`."""
    known = tokenizer.id_of(piece)
    if known is not None:
        return [known]
    text = piece.replace("\u2581", " ")
    if text.startswith(" "):
        return tokenizer.encode(text[1:])
    fence = tokenizer.encode(_FENCE)
    return tokenizer.encode(_FENCE + text)[len(fence) :]
