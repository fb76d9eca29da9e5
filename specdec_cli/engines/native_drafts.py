"""The draft model of the native engine, which is loaded when it is first needed."""

from functools import cached_property

from specdec_cli.decoding.drafters.bridge import bridge_between
from specdec_cli.decoding.options import constraints_of
from specdec_cli.model.bundle_info import BundleDescription
from specdec_cli.model.config import TransformerConfig
from specdec_cli.native.draft_model import NativeDraftModel
from specdec_cli.native.library import HEADER
from specdec_cli.native.model import NativeModel

MULTIPLE = HEADER.constants["MULTIPLE"]
"""The longest source that the engine takes is a multiple of this number of tokens."""


class DraftModelOf:
    """The model `other` as the draft model of `bundle`. Engines that share this object share its weights."""

    def __init__(self, bundle: BundleDescription, other: BundleDescription) -> None:
        self._bundle, self._other = bundle, other
        self.path = other.path.parent / "verifier" / "model.safetensors"
        """The file of its weights."""

    @property
    def shape(self) -> TransformerConfig:
        """The configuration of the model."""
        return self._other.shape

    @cached_property
    def loaded(self) -> NativeDraftModel:
        """The model, ready to draft. Raises what NativeModel raises."""
        longest = self.shape.max_positions // MULTIPLE * MULTIPLE
        bridge = bridge_between(self._bundle, self._other)
        return NativeDraftModel(NativeModel(self.shape, self.path), constraints_of(self._other), bridge, longest)
