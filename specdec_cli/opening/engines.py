"""Choice of the engine that decodes lines: the native engine; for decodings that it does not do, the reference engine over its passes; and
the reference engine over PyTorch's for models and machines that it does not support.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self, cast

from specdec_cli.decoding.methods import methods_of
from specdec_cli.decoding.options import Decoding, DecodingOptions, resolve
from specdec_cli.digests import folder_digest
from specdec_cli.engines.engine import SentenceDecoder
from specdec_cli.engines.native import NativeEngine
from specdec_cli.engines.native_decoding import Unsupported
from specdec_cli.engines.native_drafts import DraftModelOf
from specdec_cli.errors import UsageError
from specdec_cli.model.bundle_info import BundleDescription, Described, describe_bundle
from specdec_cli.native.library import LibraryError, StaleLibrary, UnsupportedModel, load_library
from specdec_cli.opening.conversions import Tell, silent
from specdec_cli.opening.draft_models import Load, check_orders, find_draft_model, open_draft_model
from specdec_cli.opening.machine import (
    Device,
    EngineName,
    Machine,
    MachineOptions,
    Precision,
    computes_natively,
    native_machine,
    prepare_torch,
)
from specdec_cli.opening.models import ModelChoice, find_bundle, open_bundle, shipped_draft_model

if TYPE_CHECKING:
    from specdec_cli.decoding.rounds import RoundTrace
    from specdec_cli.model.bundle import Bundle
    from specdec_cli.native.model import DecodedRound


class RoundTracer(Protocol):
    """Protocol of what shows the rounds of a decoding, of either engine."""

    def __call__(self, seen: "RoundTrace") -> None:
        """Show a round of a batch of the loop in PyTorch."""

    def show(self, seen: "DecodedRound") -> None:
        """Show a round of a sentence of the native engine."""


Trace = Callable[[Described], RoundTracer]
"""Makes what shows the rounds of a bundle's decoding."""


@dataclass(frozen=True)
class Opened:
    """A bundle, the engine that decodes with it, the machine that the engine computes on, and the decoding that was asked of it."""

    bundle: Described
    engine: SentenceDecoder
    machine: Machine
    decoding: Decoding


@dataclass(frozen=True)
class Computation:
    """All that an output depends on: the digest of the bundle's files, the engine, its device and its precision, and the decoding.

    It is resolved by one process; the others that open it give the same output, or an error.
    """

    digest: str
    native: bool
    device: Device
    precision: Precision
    decoding: Decoding

    @classmethod
    def resolve(cls, model: ModelChoice, options: MachineOptions, request: DecodingOptions, tell: Tell = silent) -> Self:
        """What `open_engine` chooses here for the same arguments, except that a GPU that is asked for may be in another machine: then the
        precision `auto` is float32.

        Raises what `open_engine` raises.
        """
        model = replace(model, name=str(find_bundle(model, tell)))
        folder = Path(model.name)
        decoding = resolve(request, _described(model))
        is_native = options.engine == "native" or (options.engine == "auto" and computes_natively(options.device, options.precision))
        machine = None if is_native or _is_elsewhere(options.device) else options.resolve()
        if is_native or (machine is not None and machine.precision == "auto"):
            machine = open_engine(model, options, request, tell).machine
        digest = folder_digest(folder)
        if machine is None:  # of a card that is not seen from here, float32 is known
            return cls(digest, False, options.device, "float32" if options.precision == "auto" else options.precision, decoding)
        return cls(digest, machine.native, cast(Device, machine.device), cast(Precision, machine.precision), decoding)

    def open(
        self, model: ModelChoice, options: MachineOptions, memory: int | None = None, tell: Tell = silent, trace: Trace | None = None
    ) -> Opened:
        """Open what this computation needs on a machine whose batches are those of `options`; they take `memory` bytes (None: those of
        the options).

        Raises UsageError if `model` is another one there, and if the machine cannot compute so.
        """
        folder = find_bundle(model)
        if folder_digest(folder) != self.digest:
            raise UsageError(f"{folder}: not the model of the command; give all machines the same files")
        engine: EngineName = "native" if self.native else "reference"
        machine = replace(options, engine=engine, device=self.device, precision=self.precision)
        decoding = replace(self.decoding, batch_size=machine.rows, memory=machine.batch_memory if memory is None else memory)
        return _Opening(replace(model, name=str(folder)), machine, tell, trace).open(lambda _native: decoding)


def open_engine(
    model: ModelChoice,
    options: MachineOptions,
    request: DecodingOptions,
    tell: Tell = silent,
    trace: Trace | None = None,
    load: Load = open_bundle,
) -> Opened:
    """Load the bundle of `model`, and make the engine for `request`. It shows its rounds to what `trace` makes. `load` loads the weights
    for PyTorch.

    Raises ModelError, and UsageError for what the bundle, the machine or an engine that was asked for cannot do, and for a native engine
    that was built from another version. `tell` is called if the model is converted, and if the native engine is missing.
    """
    opening = _Opening(replace(model, name=str(find_bundle(model, tell))), options, tell, trace, load)
    bundle = opening.described
    return opening.open(lambda native: resolve(_with_shipped_draft_model(request, bundle) if native else request, bundle))


@dataclass(frozen=True)
class _Opening:
    """Opens an engine with the arguments of `open_engine`; `model` is the path of a folder."""

    model: ModelChoice
    options: MachineOptions
    tell: Tell
    trace: Trace | None
    load: Load = open_bundle

    @cached_property
    def described(self) -> BundleDescription:
        """The bundle without its weights."""
        return _described(self.model)

    def open(self, decoding: Callable[[bool], Decoding]) -> Opened:
        """Open the engine. `decoding` returns the decoding; its argument is True if native code computes the passes of the verifier."""
        options = self.options
        is_requested = options.engine == "native"
        if is_requested or (options.engine == "auto" and computes_natively(options.device, options.precision)):
            try:
                load_library()
                return self._native(decoding(True))
            except LibraryError as error:
                if is_requested:
                    raise UsageError(f"the native engine is not there: {error}") from error
                if isinstance(error, StaleLibrary):  # the reference engine would be slow without a reason that anyone sees
                    raise UsageError(f"the native engine: {error}") from error
                opened = self._reference(options.resolve(), decoding(False))
                self.tell(f"the native engine is missing: {error}; PyTorch computes in {opened.machine.precision}")
                return opened
            except UnsupportedModel:
                if is_requested:
                    raise
        return self._reference(options.resolve(), decoding(False))

    def _native(self, decoding: Decoding) -> Opened:
        """Open the native engine, or for a decoding that it does not support, the loop in PyTorch, which calls the same native passes."""
        options, described, trace = self.options, self.described, self.trace
        machine = native_machine(options.device, options.precision, options.threads)
        try:
            draft_model = None
            if decoding.draft_model:
                draft_model = DraftModelOf(described, *find_draft_model(self.model, described, decoding.draft_model))
                check_orders(decoding.draft_model, draft_model.shape, described.shape)
            engine = NativeEngine(described, decoding, machine.threads, shows_rounds=trace is not None, draft_model=draft_model)
        except Unsupported:
            prepare_torch(machine.threads, options.seed)
            return self._reference(machine, decoding)
        if trace is not None:
            _check_rounds(decoding)
            engine.onlooker = trace(described).show
        return Opened(described, engine, machine, decoding)

    def _reference(self, machine: Machine, decoding: Decoding) -> Opened:
        from specdec_cli.engines.reference import Engine

        trace = self.trace
        trained = [method.trained for method in methods_of(decoding.method) if method.trained is not None]
        network_only = not trained and decoding.order == "left-to-right"
        # Drafts that are seen, in a trace or as the output, are the same on every CPU.
        same_drafts = trace is not None or decoding.method == "drafter"
        bundle = self.load(self.model, machine, same_drafts=same_drafts, network_only=network_only)
        if decoding.draft_model:
            bundle.draft_model = open_draft_model(self.model, bundle, decoding.draft_model, machine, self.load)
        if trace is not None:
            _check_rounds(decoding)
        return Opened(bundle, Engine(bundle, decoding, None if trace is None else trace(bundle)), machine.with_model(bundle), decoding)


def open_beside(opened: Opened, model: ModelChoice, options: MachineOptions, request: DecodingOptions) -> SentenceDecoder:
    """An engine for another decoding of `model`, which is `opened`; native engines share its weights. Raises what `open_engine` raises."""
    if opened.machine.native:
        threads = native_machine(options.device, options.precision, options.threads).threads
        if (engine := opened.engine.beside(resolve(request, opened.bundle), threads)) is not None:
            return engine
    return open_engine(model, options, request).engine


def open_for_loop(model: ModelChoice, options: MachineOptions, tell: Tell = silent) -> "Bundle":
    """Load the bundle of `model` for decodings of PyTorch's loop: on a CPU, the kernels of the native engine compute its verifier, unless
    another precision than int8 is asked for, or they are missing or do not support it. Raises and calls what `open_engine` does.
    """
    model = replace(model, name=str(find_bundle(model, tell)))
    if computes_natively(options.device, options.precision):
        try:
            machine = native_machine(options.device, options.precision, options.threads)
            prepare_torch(machine.threads, options.seed)
            return open_bundle(model, machine, same_drafts=True)
        except StaleLibrary as error:
            raise UsageError(f"the native engine: {error}") from error
        except LibraryError as error:
            tell(f"the native engine is missing: {error}; PyTorch computes in {options.resolve().precision}")
        except UnsupportedModel:
            pass
    return open_bundle(model, options.resolve(), same_drafts=True)


def _with_shipped_draft_model(request: DecodingOptions, bundle: BundleDescription) -> DecodingOptions:
    """The `request` with the draft model that `auto` takes for the bundle, where the options leave the decoding to the toolkit."""
    if request.decoding != "auto" or request.draft_model is not None or request.searching or request.tolerant:
        return request
    name = shipped_draft_model(bundle.path.parent, bundle.info)
    return replace(request, draft_model=name) if name else request


def _described(model: ModelChoice) -> BundleDescription:
    """The bundle in the folder that `model` names, without its weights."""
    return describe_bundle(Path(model.name), model.source_language, model.target_language, instruction=model.instruction)


def _is_elsewhere(device: Device) -> bool:
    """Whether a GPU is asked for, and this machine has none."""
    if device != "cuda":
        return False
    import torch

    return not torch.cuda.is_available()


def _check_rounds(decoding: Decoding) -> None:
    if any(not method.rounds for method in methods_of(decoding.method)):
        raise UsageError(f"--trace: decoding {decoding.method} has no rounds to show")
