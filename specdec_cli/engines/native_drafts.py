"""The draft model of the native engine, which is loaded when it is first needed."""

from functools import cached_property
from pathlib import Path

from specdec_cli.decoding.bridge import bridge_between
from specdec_cli.decoding.options import constraints_of
from specdec_cli.model.bundle_info import BundleDescription, describe_bundle, read_shape, weights_file
from specdec_cli.model.config import TransformerConfig
from specdec_cli.native.draft_model import NativeDraftModel
from specdec_cli.native.library import HEADER
from specdec_cli.native.model import NativeModel

MULTIPLE = HEADER.constants["MULTIPLE"]
"""The longest source that the engine takes is a multiple of this number of tokens."""


class DraftModelOf:
    """The bundle in `folder` as the draft model of `bundle`; a multilingual one translates between `languages`.

    Engines that share this object share its weights. Raises ModelError for a damaged configuration.
    """

    def __init__(self, bundle: BundleDescription, folder: Path, languages: tuple[str, str] = ("", "")) -> None:
        self._bundle, self._folder, self._languages = bundle, folder, languages
        self.shape: TransformerConfig = read_shape(folder)
        """The configuration of the model."""

    @property
    def path(self) -> Path:
        """The file of its weights."""
        return weights_file(self._folder)

    @cached_property
    def loaded(self) -> NativeDraftModel:
        """The model, ready to draft. Raises what `describe_bundle` and NativeModel raise."""
        other = describe_bundle(self._folder, *self._languages)
        longest = self.shape.max_positions // MULTIPLE * MULTIPLE
        model = NativeModel(other.shape, self.path)
        return NativeDraftModel(model, constraints_of(other), bridge_between(self._bundle, other), longest)
