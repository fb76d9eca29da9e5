"""The reference engine: decodes sentences with a bundle by PyTorch."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Self

from specdec_cli.decoding.beam_round import BeamRound
from specdec_cli.decoding.costs import Costs
from specdec_cli.decoding.drafters import Drafter, DrafterInputs, NoDrafter
from specdec_cli.decoding.drafters.copying import GivenDrafts, make_given
from specdec_cli.decoding.drafters.fallback import make_drafter
from specdec_cli.decoding.lengths import Lengths
from specdec_cli.decoding.loop import OWN_SIZE, decode_alone, decode_by_search, decode_with
from specdec_cli.decoding.mask_predict import mask_predict
from specdec_cli.decoding.methods import GIVEN, LONGEST_DRAFT, METHODS
from specdec_cli.decoding.options import Decoding, Exact, Sampled, own_options
from specdec_cli.decoding.pace import AdaptivePace, Pace
from specdec_cli.decoding.rounds import Onlooker
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.decoding.verifier import Verifier, bundle_verifier
from specdec_cli.engines.reference_costs import measure_costs, round_costs, sizes_of
from specdec_cli.model.bundle import Bundle
from specdec_cli.model.drafter_config import Reads


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
    name = " ".join([decoding.method, decoding.draft_model, *(f"{key}={value}" for key, value in own_options(decoding).items())])
    sizes = sizes_of(verifier, drafter, longest)
    return AdaptivePace(round_costs(verifier, drafter, longest, name, bundle.drafter), sizes[-1], sizes)


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
    return _named(decode_by_search(tools.verifier, group.sentences, tools.for_group(group)), tools.decoding.method)


def _drafter_alone(tools: Tools, drafting: Drafting, group: Group) -> Iterator[Hypothesis]:
    decoding = tools.for_group(group)
    return _named(decode_alone(tools.verifier, drafting.drafter, group.sentences, decoding, tools.reads, tools.onlooker), decoding.method)


def _mask_predict(tools: Tools, drafting: Drafting, group: Group) -> Iterator[Hypothesis]:  # noqa: ARG001
    return _named(mask_predict(tools.verifier, group.sentences, tools.for_group(group)), tools.decoding.method)


def _named(hypotheses: Iterator[Hypothesis], decoding: str) -> Iterator[Hypothesis]:
    return (replace(hypothesis, decoding=decoding) for hypothesis in hypotheses)


_STRATEGIES: Mapping[str, Strategy] = {"beam": _beam, "bidirectional": _beam, "drafter": _drafter_alone, "mask-predict": _mask_predict}


class Engine:
    """The reference engine: decodes sentences with a bundle by PyTorch, by the decoding `decoding`.

    `onlooker` is called in each round. `verifier` is one that was made for the same bundle, whose captured CUDA
    graphs are then used again. Jacobi and GS-Jacobi decoding draft up to the output lengths that `lengths` returns,
    if it is given. Raises UsageError for a block size that the drafter was not trained for, and ModelError for
    constraints that the model's order does not allow.
    """

    def __init__(
        self,
        bundle: Bundle,
        decoding: Decoding,
        onlooker: Onlooker | None = None,
        verifier: Verifier | None = None,
        lengths: Lengths | None = None,
    ) -> None:
        self.decoding = decoding
        self.meanwhile: Callable[[], None] = lambda: None
        self.verifier = verifier or bundle_verifier(bundle)
        self._onlooker, self._operators = onlooker, bundle.operators
        self._reads: Reads = "states" if bundle.drafter is None else bundle.drafter.config.reads
        self.workers, self.is_shareable = 1, False
        self._drafting = build_drafting(bundle, decoding, self.verifier, lengths)
        given = replace(decoding, acceptance=decoding.given_acceptance, block_size=decoding.given_block_size)
        self._given_inputs = DrafterInputs(bundle, given)
        self._given: GivenDrafts | None = None  # made when it is first needed, and kept with its graphs

    @property
    def longest_source(self) -> int:
        """Largest number of source tokens, EOS included."""
        return self.verifier.longest_source

    @property
    def eos(self) -> int:
        """The id of EOS in the target vocabulary."""
        return self.verifier.config.eos

    @property
    def description(self) -> str:
        """A text that names what computes the model."""
        return self.verifier.network.description

    @property
    def captured(self) -> str:
        """How rounds were replayed as CUDA graphs, in words, and why operators compute them if kernels do not; empty on a CPU."""
        graphs, reason = self.verifier.graphs, f"; not by kernels: {self._operators}" if self._operators else ""
        if graphs is None and not reason:
            return ""
        if graphs is None or not graphs.counts.bursts:
            return f"none; operators were launched one by one{reason}"
        counts = graphs.counts
        text = f"{counts.bursts:,} bursts of rounds, {counts.graphs:,} graphs of {counts.forms:,} forms, {counts.waits:,} waits"
        return text + reason

    @property
    def drafter(self) -> Drafter:
        """The drafter. Setting it keeps the pace."""
        return self._drafting.drafter

    @drafter.setter
    def drafter(self, drafter: Drafter) -> None:
        self._drafting = replace(self._drafting, drafter=drafter)

    @property
    def drafted(self) -> tuple[int, float] | None:
        """The total number of rounds with a draft, counted for each row, and their mean block size, the number of
        tokens asked for; None if the block size is not adaptive.
        """
        pace = self._drafting.pace
        return (pace.rounds, pace.asked / max(pace.rounds, 1)) if isinstance(pace, AdaptivePace) else None

    def expect(self, sentences: int, rows: int = 1) -> None:
        """Nothing: all that the decoding needs is loaded."""

    def beside(self, decoding: Decoding, threads: int) -> None:
        """None: engines of PyTorch do not share weights."""

    def measured_costs(self) -> Costs:
        """Measure how long a decoding round takes with the drafter and without it."""
        return measure_costs(self.verifier, self.drafter, self.decoding.block_size)

    def with_rule(self, rule: Exact | Sampled) -> Self:
        """This engine with another acceptance rule, with the same model and drafter."""
        other = copy(self)
        other.decoding, other._given = self.decoding.with_rule(rule), None
        other._given_inputs = replace(self._given_inputs, decoding=replace(self._given_inputs.decoding, acceptance=rule))
        return other

    def decode(self, sentences: Sequence[Sentence]) -> Iterator[Hypothesis]:
        """Yield a hypothesis for each sentence as soon as it is done, in any order; the lengths of the sentences may
        differ.

        Sentences of one source width are decoded together, those that come with a draft apart from the others.
        Raises UsageError for drafts without a prefix if the decoding is not exact. Sentences with a prefix get scores.
        """
        if any(sentence.draft and not sentence.prefix for sentence in sentences):
            self.decoding.check_given()
        tools = Tools(self.decoding, self.verifier, self._reads, self._onlooker)
        strategy = strategy_of(tools.decoding.method)
        for group in self._groups(sentences):
            if group.given:
                self._given = self._given or make_given(self._given_inputs)
                hypotheses = decode_given(tools, self._given, group)
            else:
                hypotheses = strategy(tools, self._drafting, group)
            for hypothesis in hypotheses:
                self.meanwhile()
                yield hypothesis

    def _groups(self, sentences: Sequence[Sentence]) -> list[Group]:
        alike: dict[tuple[int, bool, bool], list[Sentence]] = defaultdict(list)
        for sentence in sentences:
            alike[self.verifier.source_width(len(sentence.source)), bool(sentence.draft), sentence.prefix > 0].append(sentence)
        if self.verifier.graphs is not None:  # short outputs at the end leave few rows of the last batch running alone
            for own in alike.values():
                own.sort(key=lambda sentence: len(sentence.source), reverse=True)
        return [Group(own, self._rows(key[0], len(own)), given=key[1], prefixed=key[2]) for key, own in sorted(alike.items())]

    def _rows(self, width: int, sentences: int) -> int:
        """How many of `sentences` sentences with sources of `width` tokens are decoded together."""
        decoding, beam = self.decoding, self.decoding.search.beam_size
        rows = {"mask-predict": decoding.length_beam, "beam": beam, "bidirectional": beam}.get(decoding.method, 1)
        is_captured_search = self.verifier.graphs is not None and strategy_of(decoding.method) is _beam
        token_bytes = BeamRound(self.verifier, decoding).token_bytes if is_captured_search else 0
        row = rows * self.verifier.row_bytes(width, token_bytes)
        return max(1, min(decoding.batch_size, sentences, decoding.memory // row if decoding.memory else sentences))
