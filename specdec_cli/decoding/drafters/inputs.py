"""Arguments of the functions that make drafters."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch

from specdec_cli.decoding.accept import Rule
from specdec_cli.decoding.drafters.lengths import Lengths
from specdec_cli.decoding.names import DecodingOption, OptionValue
from specdec_cli.decoding.state import StepRunner, run_directly
from specdec_cli.model.bundle import Bundle


@dataclass(frozen=True)
class DrafterInputs:
    """Arguments of a function that makes a drafter: a loaded bundle, the acceptance rule, and the block size (0:
    none was given).

    `options` are the values of the decoding's own options by name. `lengths` are the expected lengths of outputs if
    they are known beforehand. `run` runs the drafter's steps.
    """

    bundle: Bundle
    rule: Rule
    block_size: int = 0
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    lengths: Lengths | None = None
    run: StepRunner = run_directly

    @property
    def device(self) -> torch.device:
        """The device of the verifier."""
        return next(self.bundle.verifier.parameters()).device

    def option(self, option: DecodingOption) -> OptionValue | None:
        """The value that was given for `option`, else its default, which may be None."""
        return self.options.get(option.name, option.default)
