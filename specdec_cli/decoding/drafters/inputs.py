"""Arguments of the functions that make drafters."""

from dataclasses import dataclass

import torch

from specdec_cli.decoding.drafters.lengths import Lengths
from specdec_cli.decoding.options import Decoding
from specdec_cli.model.bundle import Bundle


@dataclass(frozen=True)
class DrafterInputs:
    """Arguments of a function that makes a drafter: a loaded bundle, and the decoding.

    `lengths` are the expected lengths of outputs if they are known beforehand.
    """

    bundle: Bundle
    decoding: Decoding
    lengths: Lengths | None = None

    @property
    def device(self) -> torch.device:
        """The device of the verifier."""
        return next(self.bundle.verifier.parameters()).device
