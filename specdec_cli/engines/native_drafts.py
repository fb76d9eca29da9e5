"""The drafts of the native engine: the model that drafts, which is loaded when it is first needed, and the choice of their sizes."""

from dataclasses import replace
from functools import cached_property
from pathlib import Path

from specdec_cli.decoding.bridge import bridge_between
from specdec_cli.decoding.costs import Costs
from specdec_cli.decoding.options import Decoding, Rule, Sampled, constraints_of
from specdec_cli.engines.native_costs import DraftTrial, MeasuredModel, SharedBlockSizes, round_costs, stored_costs
from specdec_cli.engines.native_decoding import cached_floats
from specdec_cli.model.bundle_info import BundleDescription, describe_bundle, read_shape, weights_file
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.native.draft_model import NativeDraftModel
from specdec_cli.native.library import HEADER
from specdec_cli.native.model import NativeModel

WORTH_LOADING = 32
"""Number of sentences after which an optional drafter is loaded: for fewer, loading takes longer than drafts can save."""
WORTH_LOADING_MODEL, WORTH_MEASURING_BATCHES = 4, 256
"""The same for a draft model, which pays for verifiers whose sentences take as long as loading it, one by one and in batches: the costs of
batches take long to measure.
"""
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


class DraftSizes:
    """Decides whether drafts of `drafter`, a network or another model, make the verifier of `bundle` faster, and how long they are.

    The decision uses the measured costs of rounds and, if drafts may be left out (`decoding.may_skip`), a trial for each acceptance rule.
    `decoding` has the largest draft size and the batch size; `threads` is the number of threads. Engines that have the same model and
    differ only in the acceptance rule share this object.
    """

    def __init__(self, bundle: BundleDescription, drafter: DrafterConfig | DraftModelOf, decoding: Decoding, threads: int) -> None:
        self._bundle, self._drafter, self._decoding, self._threads = bundle, drafter, decoding, threads
        self._trials: dict[Rule, DraftTrial] = {}
        self._sizes: dict[Rule, SharedBlockSizes] = {}
        self.costs: Costs | None = None
        """The costs by which sizes are chosen; None while nothing is drafted."""

    @property
    def model(self) -> DraftModelOf | None:
        """The model that drafts; None for a network."""
        return self._drafter if isinstance(self._drafter, DraftModelOf) else None

    @property
    def worth_loading(self) -> int:
        """Number of sentences from which on loading optional drafts, and measuring their costs, pays."""
        if self.model is None:
            return WORTH_LOADING
        return WORTH_LOADING_MODEL if self._decoding.batch_size == 1 else WORTH_MEASURING_BATCHES

    @cached_property
    def stored(self) -> Costs | None:
        """The costs if no further run needs to measure them, else None."""
        return stored_costs(self._measured)

    def measured(self, model: NativeModel) -> Costs:
        """The cached costs, or those that are measured now with the `model` of the verifier, which has the network that drafts."""
        return round_costs(self._measured, model, None if self.model is None else self.model.loaded.model)

    def can_pay(self, costs: Costs, rows: int = 1) -> bool:
        """Whether drafts of some size can pay at these costs for so many rows together."""
        return costs.can_pay(rows, range(1, self._decoding.block_size + 1))

    def pays(self, rule: Rule) -> bool | None:
        """Whether drafts pay by the trial of this rule; None if it is not at its end."""
        return self._trial(_drafting(rule)).pays

    def of(self, rule: Rule) -> SharedBlockSizes | None:
        """The sizes for this rule; None while nothing is drafted."""
        if self.costs is None:
            return None
        rule, decoding = _drafting(rule), self._decoding
        if rule not in self._sizes:
            trial = self._trial(rule) if decoding.may_skip else None
            sizes = decoding.block_size, decoding.batch_size, self._threads
            self._sizes.setdefault(rule, SharedBlockSizes(self.costs, *sizes, may_skip=decoding.may_skip, trial=trial))
        return self._sizes[rule]

    def cached_floats(self, shape: TransformerConfig) -> int:
        """The number of floats that the drafter, or the draft model, caches for one position. `shape` is that of the verifier."""
        return (
            cached_floats(shape, self._drafter.layers) if isinstance(self._drafter, DrafterConfig) else cached_floats(self._drafter.shape)
        )

    def _trial(self, rule: Rule) -> DraftTrial:
        if rule not in self._trials:
            folder = self._bundle.path.parent
            files = weights_file(folder), weights_file(folder, "drafter") if self.model is None else self.model.path
            weights = [(each.st_size, each.st_mtime_ns) for each in (file.stat() for file in files)]
            self._trials.setdefault(rule, DraftTrial(self._measured.drafts_of(weights, rule)))
        return self._trials[rule]

    @property
    def _measured(self) -> MeasuredModel:
        one_by_one = self._decoding.batch_size == 1
        shape = self._drafter.shape if isinstance(self._drafter, DraftModelOf) else self._drafter
        threads = self._threads if one_by_one else 1
        return MeasuredModel(self._bundle.shape, shape, self._decoding.block_size, threads, self.model is not None and one_by_one)


def _drafting(rule: Rule) -> Rule:
    """The rule by which drafts are accepted, with the seed 0: whether drafts pay does not depend on the seed."""
    return replace(rule, seed=0) if isinstance(rule, Sampled) else rule
