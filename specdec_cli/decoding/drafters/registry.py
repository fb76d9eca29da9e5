"""Construction of the drafter of a decoding from the decoding's name."""

from collections.abc import Callable
from importlib import import_module

from specdec_cli.decoding.drafters import Drafter
from specdec_cli.decoding.drafters.fallback import Fallback
from specdec_cli.decoding.drafters.inputs import DrafterInputs
from specdec_cli.decoding.names import LONGEST_DRAFT, methods_of

Maker = Callable[[DrafterInputs], Drafter]


def make_drafter(inputs: DrafterInputs) -> Drafter | None:
    """Make the drafter of `inputs.decoding`; for a chain of decodings, a Fallback over their drafters in order. None for a
    decoding without drafts.

    Raises UsageError if the bundle has no drafter of the kind that the decoding needs, or if the block size is out
    of its range.
    """
    drafters = [find_maker(method.drafter)(inputs) for method in methods_of(inputs.decoding.method) if method.drafter]
    if len(drafters) > 1:
        return Fallback(drafters, inputs.decoding.block_size or LONGEST_DRAFT)
    return drafters[0] if drafters else None


def find_maker(place: str) -> Maker:
    """Return the function that `place` names, as "module:function" in this package, such as "lookup:make"; import
    its module.
    """
    module, _, function = place.partition(":")
    found: Maker = getattr(import_module(f"{__package__}.{module}"), function)
    return found
