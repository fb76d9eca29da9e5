"""Bundles made of others: the weighted mean of weights, and a vocabulary in the order of its frequency."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from torch import Tensor, nn

from specdec_cli.errors import InputError, ModelError, UsageError
from specdec_cli.model.bundle import Bundle, load_bundle
from specdec_cli.text.tokenize.loading import tokenizer_digest
from specdec_cli.text.tokenize.sentencepiece import MASK, Subwords, frequent_first, reorder_pieces


@dataclass(frozen=True)
class Share:
    """A bundle whose weights enter a mean with the weight `share`, which is greater than 0 and less than 1."""

    folder: Path
    share: float

    @staticmethod
    def parse(text: str) -> "Share":
        """Parse `FOLDER` or `FOLDER*SHARE` (default share: 0.5). Raises UsageError."""
        matched = re.fullmatch(r"(?P<folder>.+)\*(?P<share>[0-9.]+)", text)
        if matched is None:
            return Share(Path(text), 0.5)
        try:
            share = float(matched["share"])
        except ValueError:
            share = 0.0
        if not 0 < share < 1:
            raise UsageError(f"{text}: expected a number between 0 and 1 after *")
        return Share(Path(matched["folder"]), share)


def average(bundle: Bundle, others: Sequence[Share], load: Callable[[Path], Bundle] = load_bundle) -> None:
    """Replace the weights of `bundle` by their mean with those of `others`, which `load` loads; its own share is what theirs leave of 1.

    The drafter is averaged if all bundles have one; otherwise it is dropped, because it was made for another verifier. Raises
    ModelError if a bundle has another tokenizer or other shapes, and UsageError if no share is left for `bundle`.
    """
    share = 1 - sum(other.share for other in others)
    if share <= 0:
        raise UsageError("the shares of the other bundles must have a sum below 1; the rest is the share of the first")
    read = [(other, _checked(bundle, load(other.folder), other.folder)) for other in others]
    drafters = [(part.drafter, other.share) for other, part in read if part.drafter is not None]
    # A drafter may hold weights of its verifier: both means are calculated before one of the models is changed.
    verifier = _mean(bundle.verifier, share, [(part.verifier, other.share) for other, part in read])
    if bundle.drafter is not None and len(drafters) == len(read):
        bundle.drafter.load_state_dict(_mean(bundle.drafter, share, drafters))
    elif bundle.drafter is not None:
        bundle.drop_drafter()
    bundle.verifier.load_state_dict(verifier)


def _checked(bundle: Bundle, read: Bundle, folder: Path) -> Bundle:
    """The bundle `read` from `folder`. Raises ModelError if its weights cannot be averaged with those of `bundle`."""
    if bundle.path is None or tokenizer_digest(folder) != tokenizer_digest(bundle.path.parent):
        raise ModelError(f"{folder}: its tokenizer is not that of the bundle with which it is to be averaged")
    drafters_differ = bundle.drafter is not None and read.drafter is not None and read.drafter_config != bundle.drafter_config
    if read.shape != bundle.shape or drafters_differ:
        raise ModelError(f"{folder}: its layers and sizes are not those of the bundle with which it is to be averaged")
    return read


def _mean(model: nn.Module, own: float, others: Sequence[tuple[nn.Module, float]]) -> dict[str, Tensor]:
    states = [(other.state_dict(), share) for other, share in others]
    return {
        name: own * value + sum(share * state[name] for state, share in states) if value.is_floating_point() else value
        for name, value in model.state_dict().items()
    }


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
