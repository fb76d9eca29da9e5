"""Decoding of a group of sentences: by the draft-and-verify loop, by a search, or by the drafter alone."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from specdec_cli.decoding.drafters.given import GivenDrafts
from specdec_cli.decoding.drafters.none import NoDrafter
from specdec_cli.decoding.loop import decode_alone, decode_with
from specdec_cli.decoding.names import GIVEN
from specdec_cli.decoding.options import Decoding
from specdec_cli.decoding.rounds import Onlooker
from specdec_cli.decoding.searches.beam import beam_search
from specdec_cli.decoding.searches.mask_predict import mask_predict
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.drafter_config import Reads
from specdec_cli.pipeline.building import Drafting


@dataclass(frozen=True)
class Group:
    """Sentences of one source width, to be decoded `rows` at a time. `given`: all of them come with a draft; `prefixed`: with one that
    has a prefix.
    """

    sentences: Sequence[Sentence]
    rows: int
    given: bool = False
    prefixed: bool = False


@dataclass(frozen=True)
class Tools:
    """The decoding and the models with which all groups of sentences are decoded.

    `reads` says which results of the verifier's model the bundle's drafter needs. `onlooker` is called with each
    Round; beam search and Mask-Predict do not call it.
    """

    decoding: Decoding
    verifier: Verifier
    reads: Reads = "states"
    onlooker: Onlooker | None = None

    def for_group(self, group: Group) -> Decoding:
        """The decoding with the group's number of rows as its batch size."""
        return replace(self.decoding, batch_size=group.rows)


Strategy = Callable[[Tools, Drafting, Group], Iterator[Hypothesis]]
"""Decodes a group of sentences with a drafter and its pace; yields each hypothesis as soon as it is done."""


def strategy_of(decoding: str) -> Strategy:
    """The function that decodes groups by `decoding`: a search, the drafter alone, or else the draft-and-verify
    loop.
    """
    return _STRATEGIES.get(decoding, _loop)


def _loop(tools: Tools, drafting: Drafting, group: Group) -> Iterator[Hypothesis]:
    """Draft and verify; without drafts where they may be skipped and do not pay, which is greedy decoding."""
    decoding, sentences = tools.for_group(group), group.sentences
    if decoding.may_skip and not drafting.pace.pays(group.rows):
        return _named(decode_with(tools.verifier, NoDrafter(), sentences, decoding, tools.onlooker), "greedy")
    return _named(decode_with(tools.verifier, drafting.drafter, sentences, decoding, tools.onlooker, drafting.pace), decoding.method)


def decode_given(tools: Tools, drafter: GivenDrafts, group: Group) -> Iterator[Hypothesis]:
    """Decode a group of sentences that come with drafts: draft and verify, by the exact rule."""
    decoding, verifier = tools.for_group(group), tools.verifier
    decoding = replace(decoding, acceptance=decoding.given_acceptance, with_scores=decoding.with_scores or group.prefixed)
    return _named(decode_with(verifier, drafter, group.sentences, decoding, tools.onlooker), GIVEN)


def _beam(tools: Tools, drafting: Drafting, group: Group) -> Iterator[Hypothesis]:  # noqa: ARG001
    return _named(beam_search([tools.verifier], group.sentences, tools.for_group(group)), tools.decoding.method)


def _drafter_alone(tools: Tools, drafting: Drafting, group: Group) -> Iterator[Hypothesis]:
    decoding = tools.for_group(group)
    return _named(decode_alone(tools.verifier, drafting.drafter, group.sentences, decoding, tools.reads, tools.onlooker), decoding.method)


def _mask_predict(tools: Tools, drafting: Drafting, group: Group) -> Iterator[Hypothesis]:  # noqa: ARG001
    return _named(mask_predict(tools.verifier, group.sentences, tools.for_group(group)), tools.decoding.method)


def _named(hypotheses: Iterator[Hypothesis], decoding: str) -> Iterator[Hypothesis]:
    return (replace(hypothesis, decoding=decoding) for hypothesis in hypotheses)


_STRATEGIES: Mapping[str, Strategy] = {"beam": _beam, "bidirectional": _beam, "drafter": _drafter_alone, "mask-predict": _mask_predict}
