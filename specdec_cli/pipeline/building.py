"""Construction of the verifier and the drafter of a bundle."""

from dataclasses import dataclass

from specdec_cli.decoding.drafters import Drafter
from specdec_cli.decoding.drafters.inputs import DrafterInputs
from specdec_cli.decoding.drafters.lengths import Lengths
from specdec_cli.decoding.drafters.none import NoDrafter
from specdec_cli.decoding.drafters.registry import make_drafter
from specdec_cli.decoding.loop import OWN_SIZE
from specdec_cli.decoding.names import LONGEST_DRAFT, METHODS
from specdec_cli.decoding.options import Constraints, Decoding, constraints_of, own_options
from specdec_cli.decoding.pace import AdaptivePace, Pace
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.errors import ModelError
from specdec_cli.model.bundle import Bundle
from specdec_cli.tuning.round_timing import round_costs


def bundle_verifier(bundle: Bundle) -> Verifier:
    """Make a Verifier of the bundle's model with the constraints that its bundle.json sets.

    Raises ModelError if a model whose order is not left to right has constraints, because they depend on the
    preceding tokens.
    """
    constraints, order = constraints_of(bundle), bundle.verifier.config.order
    if order != "left-to-right" and constraints != Constraints():
        raise ModelError(f"{bundle.path or 'the bundle'}: its generation settings are for order left-to-right, not {order}")
    verifier = Verifier(bundle.network or bundle.verifier, constraints.forced, constraints)
    if not bundle.captured:
        verifier.graphs = None
    return verifier


@dataclass
class Drafting:
    """The drafter of a decoding, and the pace that chooses the size of its drafts."""

    drafter: Drafter
    pace: Pace


def build_drafting(bundle: Bundle, decoding: Decoding, verifier: Verifier, lengths: Lengths | None = None) -> Drafting:
    """Make the drafter of a decoding, one without drafts if it needs none, and its pace, an adaptive one if `decoding.adaptive`.

    Jacobi and GS-Jacobi decoding draft up to the output lengths that `lengths` returns, if it is given. Raises
    UsageError if the bundle has no drafter of the kind that the decoding needs, or for a block size that the drafter
    was not trained for.
    """
    drafter = make_drafter(DrafterInputs(bundle, decoding, lengths))
    if drafter is None:
        return Drafting(NoDrafter(), OWN_SIZE)
    return Drafting(drafter, _adaptive_pace(bundle, decoding, verifier, drafter) if decoding.adaptive else OWN_SIZE)


def _adaptive_pace(bundle: Bundle, decoding: Decoding, verifier: Verifier, drafter: Drafter) -> AdaptivePace:
    longest = drafter.limit or (METHODS[decoding.method].longest if decoding.method in METHODS else LONGEST_DRAFT)
    # The options that change what a round of this method costs.
    name = " ".join([decoding.method, *(f"{key}={value}" for key, value in own_options(decoding).items())])
    return AdaptivePace(round_costs(verifier, drafter, longest, name, bundle.drafter), longest)
