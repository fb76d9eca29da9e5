"""The weighted mean of the weights of several bundles."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor, nn

from specdec_cli.errors import ModelError, UsageError
from specdec_cli.model.bundle import Bundle, load_bundle
from specdec_cli.text.tokenize.loading import tokenizer_digest


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


def average(bundle: Bundle, others: Sequence[Share]) -> None:
    """Replace the weights of `bundle` by their mean with those of `others`; its own share is what theirs leave of 1.

    The drafter is averaged if all bundles have one; otherwise it is dropped, because it was made for another verifier. Raises
    ModelError if a bundle has another tokenizer or other shapes, and UsageError if no share is left for `bundle`.
    """
    own = 1 - sum(other.share for other in others)
    if own <= 0:
        raise UsageError("the shares of the other bundles must have a sum below 1; the rest is the share of the first")
    read = [(other, _load_like(bundle, other.folder)) for other in others]
    drafters = [(part.drafter, other.share) for other, part in read if part.drafter is not None]
    # A drafter may hold weights of its verifier: both means are calculated before one of the models is changed.
    verifier = _mean(bundle.verifier, own, [(part.verifier, other.share) for other, part in read])
    if bundle.drafter is not None and len(drafters) == len(read):
        bundle.drafter.load_state_dict(_mean(bundle.drafter, own, drafters))
    elif bundle.drafter is not None:
        bundle.drop_drafter()
    bundle.verifier.load_state_dict(verifier)


def _load_like(bundle: Bundle, folder: Path) -> Bundle:
    """Load the bundle in `folder`. Raises ModelError if its weights cannot be averaged with those of `bundle`."""
    read = load_bundle(folder)
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
