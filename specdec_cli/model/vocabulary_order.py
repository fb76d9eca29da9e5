"""Bundles whose tokens are ordered by their frequency in target text, for drafters with a shortlist."""

from collections import Counter
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from specdec_cli.errors import InputError, ModelError
from specdec_cli.model.bundle import Bundle
from specdec_cli.text.tokenize.sentencepiece import MASK, Subwords, frequent_first, reorder_pieces


def order_vocabulary(bundle: Bundle, texts: Iterable[str], path: Path) -> None:
    """Give the tokens that are most frequent in `texts`, sentences of the target language, the lowest ids after the special ones.

    Scores of pieces do not change, and every row of the embeddings moves with its piece, so the model translates as before. The
    new SentencePiece model is written to `path`, from which the bundle reads it. A drafter is dropped: its shortlist is made of
    the lowest ids. Raises ModelError for other tokenizers than SentencePiece models that `specdec prepare` made, and InputError
    if there is no text.
    """
    tokenizer, config = bundle.tokenizer, bundle.verifier.config
    if not isinstance(tokenizer, Subwords) or config.source_vocabulary_size:
        raise ModelError(f"{bundle.path}: only a vocabulary that specdec prepare made can be ordered")
    counts = Counter(chain.from_iterable(tokenizer.encode(text) for text in texts))
    if not counts:
        raise InputError("the pairs for the order of the vocabulary have no text")
    order = frequent_first([counts[each] for each in range(config.vocabulary_size)], MASK + 1)
    path.write_bytes(reorder_pieces(tokenizer.path.read_bytes(), order))
    weights = bundle.verifier.state_dict()
    for name in weights:
        if name.endswith("embedding.tokens.weight") or name.startswith("output."):
            weights[name] = weights[name][order]
    bundle.verifier.load_state_dict(weights)
    bundle.tokenizer = Subwords(path)
    bundle.drop_drafter()
