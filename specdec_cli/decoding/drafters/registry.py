"""From the name of a decoding to its drafter."""

from collections.abc import Callable
from importlib import import_module

from specdec_cli.decoding.drafters import SizedDrafter
from specdec_cli.decoding.drafters.fallback import Fallback
from specdec_cli.decoding.drafters.inputs import DrafterInputs
from specdec_cli.decoding.names import LONGEST_DRAFT, methods_of

Maker = Callable[[DrafterInputs], SizedDrafter]


def make_drafter(decoding: str, inputs: DrafterInputs) -> SizedDrafter | None:
    """The drafter of a decoding; that of a chain asks its parts in order. None for a decoding without drafts.

    Raises UsageError where the drafter cannot do what is asked.
    """
    drafters = [find_maker(method.drafter)(inputs) for method in methods_of(decoding) if method.drafter]
    if len(drafters) > 1:
        return Fallback(drafters, inputs.block_size or LONGEST_DRAFT)
    return drafters[0] if drafters else None


def find_maker(place: str) -> Maker:
    """The function that `place`, such as "lookup:make", names in this package. Its module is imported now and not before."""
    module, _, function = place.partition(":")
    found: Maker = getattr(import_module(f"{__package__}.{module}"), function)
    return found
