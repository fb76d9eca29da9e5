"""Construction of the verifier and the drafter of a bundle."""

from specdec_cli.decoding.constraints import Constraints
from specdec_cli.decoding.drafters import Drafter, SizedDrafter
from specdec_cli.decoding.drafters.inputs import DrafterInputs
from specdec_cli.decoding.drafters.lengths import Lengths
from specdec_cli.decoding.drafters.none import NoDrafter
from specdec_cli.decoding.drafters.registry import make_drafter
from specdec_cli.decoding.names import LONGEST_DRAFT, METHODS
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.errors import ModelError
from specdec_cli.model.bundle import Bundle
from specdec_cli.pipeline.settings import Settings
from specdec_cli.tuning.adaptive_block_size import AdaptiveBlockSize
from specdec_cli.tuning.round_timing import round_costs


def bundle_verifier(bundle: Bundle) -> Verifier:
    """Make a Verifier of the bundle's model with the constraints that its bundle.json sets.

    Raises ModelError if a model whose order is not left to right has constraints, because they depend on the
    preceding tokens.
    """
    info = bundle.info
    constraints = Constraints(
        min_length=info.min_length,
        no_repeat_ngram_size=info.no_repeat_ngram_size,
        source_ngram_size=info.source_ngram_size,
        repetition_penalty=info.repetition_penalty,
        forced_end=info.forced_end,
        most_copies=info.most_copies,
        forms=bundle.tokenizer.forms() if info.most_copies else (b"", b""),
    )
    forced, order = bundle.tokenizer.special_tokens.forced, bundle.verifier.config.order
    if order != "left-to-right" and (forced is not None or constraints != Constraints()):
        raise ModelError(f"{bundle.path or 'the bundle'}: its generation settings are for order left-to-right, not {order}")
    return Verifier(bundle.verifier, forced, constraints)


def build_drafter(bundle: Bundle, settings: Settings, verifier: Verifier, lengths: Lengths | None = None) -> Drafter:
    """Make the drafter of a decoding, with an adaptive block size if `settings.adaptive_length`; one without drafts
    if it needs none.

    Jacobi and GS-Jacobi decoding draft up to the output lengths that `lengths` returns, if it is given. Raises
    UsageError if the bundle has no drafter of the kind that the decoding needs, or for a block size that the drafter
    was not trained for.
    """
    run = verifier.execution.run
    drafter = make_drafter(settings.decoding, DrafterInputs(bundle, settings.rule, settings.block_size, settings.options, lengths, run))
    if drafter is None:
        return NoDrafter()
    if settings.decoding != "drafter":
        drafter = verifier.execution.padded(drafter)
    return _adaptive(bundle, settings, verifier, drafter) if settings.adaptive_length else drafter


def _adaptive(bundle: Bundle, settings: Settings, verifier: Verifier, drafter: SizedDrafter) -> AdaptiveBlockSize:
    method = METHODS.get(settings.decoding)
    longest = drafter.block_size or (LONGEST_DRAFT if method is None else method.longest)
    name = " ".join([settings.decoding, *(f"{key}={value}" for key, value in settings.options.items())])
    return AdaptiveBlockSize(drafter, round_costs(verifier, drafter, longest, name, bundle.drafter), longest)
