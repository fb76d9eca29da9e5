"""Decoding of a group of sentences: by the draft-and-verify loop, by a search, or by the drafter alone."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from specdec_cli.decoding.accept import Exact
from specdec_cli.decoding.drafters import Drafter, OptionalDrafter
from specdec_cli.decoding.drafters.given import GivenDrafts
from specdec_cli.decoding.loop import LoopOptions, Onlooker, decode
from specdec_cli.decoding.names import GIVEN, ITERATIONS, LENGTH_BEAM
from specdec_cli.decoding.searches.beam import BeamOptions, beam_search
from specdec_cli.decoding.searches.drafter import DrafterOptions, decode_by_drafter
from specdec_cli.decoding.searches.mask_predict import MaskPredictOptions, mask_predict
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.drafter_config import Reads
from specdec_cli.pipeline.settings import Settings
from specdec_cli.pipeline.workers import Shared


@dataclass(frozen=True)
class Group:
    """Sentences of one source width, to be decoded `rows` at a time; several workers may take sentences from the
    same group. `given`: all of them come with a draft; `prefixed`: with one that has a prefix.
    """

    sentences: Shared[Sentence]
    rows: int
    given: bool = False
    prefixed: bool = False


@dataclass(frozen=True)
class Tools:
    """The settings and models with which all groups of sentences are decoded.

    `reads` says which results of the verifier's model the bundle's drafter needs. `onlooker` is called with each
    Round; beam search and Mask-Predict do not call it.
    """

    settings: Settings
    verifier: Verifier
    reads: Reads = "states"
    onlooker: Onlooker | None = None


Strategy = Callable[[Tools, Drafter, Group], Iterator[Hypothesis]]
"""Decodes a group of sentences with a drafter; yields each hypothesis as soon as it is done."""


def strategy_of(decoding: str) -> Strategy:
    """The function that decodes groups by `decoding`: a search, the drafter alone, or else the draft-and-verify
    loop.
    """
    return _STRATEGIES.get(decoding, _loop)


def _loop(tools: Tools, drafter: Drafter, group: Group) -> Iterator[Hypothesis]:
    """Draft and verify; without drafts where they may be skipped and do not pay, which is greedy decoding."""
    settings, chosen = tools.settings, drafter
    if settings.may_skip_drafting and isinstance(drafter, OptionalDrafter):
        chosen = drafter.for_rows(group.rows)
    options = LoopOptions(settings.rule, group.rows, settings.max_length, settings.with_scores)
    found = decode(tools.verifier, chosen, group.sentences, options, tools.onlooker)
    return _named(found, settings.decoding if chosen is drafter else "greedy")


def decode_given(tools: Tools, drafter: GivenDrafts, group: Group) -> Iterator[Hypothesis]:
    """Decode a group of sentences that come with drafts: draft and verify, by the exact rule."""
    settings, verifier = tools.settings, tools.verifier
    options = LoopOptions(Exact(), group.rows, settings.max_length, settings.with_scores or group.prefixed)
    found = decode(verifier, verifier.execution.padded(drafter), group.sentences, options, tools.onlooker)
    return _named(found, GIVEN)


def _beam(tools: Tools, drafter: Drafter, group: Group) -> Iterator[Hypothesis]:  # noqa: ARG001
    settings = tools.settings
    options = BeamOptions(
        settings.beam_size, settings.length_penalty, settings.n_best, group.rows, settings.max_length, stop=settings.beam_stop
    )
    return _named(beam_search([tools.verifier], list(group.sentences), options), settings.decoding)


def _drafter_alone(tools: Tools, drafter: Drafter, group: Group) -> Iterator[Hypothesis]:
    settings = tools.settings
    options = DrafterOptions(tools.reads, group.rows, settings.max_length)
    return _named(decode_by_drafter(tools.verifier, drafter, group.sentences, options, tools.onlooker), settings.decoding)


def _mask_predict(tools: Tools, drafter: Drafter, group: Group) -> Iterator[Hypothesis]:  # noqa: ARG001
    settings, own = tools.settings, tools.settings.options
    options = MaskPredictOptions(int(own[ITERATIONS.name]), int(own[LENGTH_BEAM.name]), group.rows, settings.max_length)
    return _named(mask_predict(tools.verifier, group.sentences, options), settings.decoding)


def _named(found: Iterator[Hypothesis], decoding: str) -> Iterator[Hypothesis]:
    return (replace(hypothesis, decoding=decoding) for hypothesis in found)


_STRATEGIES: Mapping[str, Strategy] = {"beam": _beam, "bidirectional": _beam, "drafter": _drafter_alone, "mask-predict": _mask_predict}
