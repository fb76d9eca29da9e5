"""A trained Transformer for another vocabulary: a second task begins with what the first one learnt."""

from dataclasses import replace

import torch
from torch import Tensor

from specdec_cli.errors import UsageError
from specdec_cli.model.bundle import Bundle
from specdec_cli.model.transformer import Transformer
from specdec_cli.text.subwords import BOS, EOS, PADDING
from specdec_cli.text.tokenizer import Tokenizer

# Encoded before a piece that stands within a word, so that SentencePiece puts no white space there.
_FENCE = "\u0001"


def with_vocabulary(first: Bundle, subwords: Tokenizer, dropout: float) -> Transformer:
    """The verifier of `first` for the pieces of `subwords`; a copy, where they are its own.

    The embedding of a new piece is the mean of those that `first` has for its text (Gee et al. 2022, Fast Vocabulary
    Transfer), and its output bias likewise. Raises UsageError for a model whose source and target differ in vocabulary.
    """
    config = first.verifier.config
    if subwords is first.tokenizer:
        same = Transformer(config, dropout)
        same.load_state_dict(first.verifier.state_dict())
        return same
    if not first.tokenizer.shared:
        raise UsageError("a model with a source vocabulary of its own keeps its tokenizer")
    config = replace(config, vocabulary_size=len(subwords), padding=PADDING, eos=EOS, decoder_start=BOS)
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
    """The ids that `tokenizer` has for the text of `piece`, which it may not know."""
    known = tokenizer.id_of(piece)
    if known is not None:
        return [known]
    text = piece.replace("\u2581", " ")
    if text.startswith(" "):
        return tokenizer.encode(text[1:])
    fence = tokenizer.encode(_FENCE)
    return tokenizer.encode(_FENCE + text)[len(fence) :]
