"""What is captured on a GPU gives what is computed step by step; here an imitation stands for the graphs."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from unittest import mock

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

from specdec_cli.decoding.accept import Exact, FixedPoint, Rule, Tolerant
from specdec_cli.decoding.drafters import Drafter, SizedDrafter
from specdec_cli.decoding.drafters.block import Block
from specdec_cli.decoding.drafters.fallback import Fallback
from specdec_cli.decoding.drafters.jacobi import Jacobi
from specdec_cli.decoding.drafters.lengths import by_source
from specdec_cli.decoding.drafters.lookup import Lookup
from specdec_cli.decoding.drafters.ngram_memory import NgramMemory
from specdec_cli.decoding.drafters.none import NoDrafter
from specdec_cli.decoding.drafters.source_copy import SourceCopy
from specdec_cli.decoding.execution import cuda_steps
from specdec_cli.decoding.execution.cuda_graphs import CudaCapture
from specdec_cli.decoding.execution.cuda_sizes import Rounded
from specdec_cli.decoding.execution.cuda_steps import Stages
from specdec_cli.decoding.loop import LoopOptions, Round, decode
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.decoding.state import Draft, State, Verdict
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.bundle import Bundle, BundleInfo
from specdec_cli.model.rows import map_tensors, tensors
from specdec_cli.model.transformer import Transformer
from specdec_cli.pipeline.engine import Engine
from specdec_cli.pipeline.request import DecodingRequest
from specdec_cli.pipeline.settings import resolve
from specdec_cli.text.subwords import EOS, PADDING
from specdec_cli.tuning.adaptive_block_size import AdaptiveBlockSize
from tests.fakes import (
    DRAFTERS,
    VOCABULARY,
    FakeDrafter,
    make_sentences,
    sometimes,
    tiny_drafter,
    tiny_heads,
    tiny_transformer,
    wrong_at_the_end,
)
from tests.tuning.test_adaptive_block_size import CHEAP

LONGEST = 30


@dataclass
class Imitated:
    """Computes again, into the tensors that it gave the first time, and spoils what other graphs of its kind left."""

    compute: Callable[[], Any]
    others: list["Imitated"]
    outputs: Any = None

    def replay(self) -> None:
        """What a graph that shares its memory does."""
        for other in self.others:
            if other is not self:
                spoil(other.outputs)
        found = self.compute()
        if self.outputs is None:
            self.outputs = map_tensors(torch.clone, found)
        for here, new in zip(tensors(self.outputs), tensors(found), strict=True):
            here.copy_(new)


def spoil(outputs: Any) -> None:
    for tensor in tensors(outputs):
        tensor.fill_(torch.nan if tensor.is_floating_point() else 1)


@dataclass
class Imitation:
    """What captures; it counts."""

    graphs: dict[str, list[Imitated]] = field(default_factory=lambda: defaultdict(list))

    def warm_up(self, compute: Callable[[], Any]) -> Any:
        return compute()

    def capture(self, kind: str, compute: Callable[[], Any]) -> Imitated:
        self.graphs[kind].append(Imitated(compute, self.graphs[kind]))
        return self.graphs[kind][-1]

    @property
    def count(self) -> int:
        return sum(map(len, self.graphs.values()))


def staged(model: Transformer) -> tuple[Verifier, Imitation]:
    verifier, imitation = Verifier(model), Imitation()
    verifier.stages = Stages(imitation)
    return verifier, imitation


def drafters(model: Transformer, sentences: Sequence[Sentence]) -> dict[str, Callable[[], SizedDrafter]]:
    """One of each kind; each call makes one that has learnt nothing."""
    options = LoopOptions(Exact(), max_length=LONGEST)
    outputs = {h.number: h.ids for h in decode(Verifier(model), NoDrafter(), sentences, options)}
    words, networks = torch.arange(VOCABULARY) % 2 == 0, {kind: tiny_drafter(model, **DRAFTERS[kind]) for kind in DRAFTERS}
    made: dict[str, Callable[[], SizedDrafter]] = {
        "fake": lambda: FakeDrafter(outputs, 5, wrong_at_the_end),
        "ragged": lambda: FakeDrafter(outputs, 7, sometimes, ragged=True),
        "input-guided": lambda: SourceCopy("nearest", EOS, words),
        "jacobi": lambda: Jacobi(0, PADDING, by_source(1.0, PADDING), beyond=3),
        "gs-jacobi": lambda: Jacobi(6, PADDING),
        "ngram-memory": lambda: NgramMemory(5, VOCABULARY, torch.device("cpu")),
        "lookup": lambda: Lookup(5, EOS, PADDING),
        "chain": lambda: Fallback([Lookup(5, EOS, PADDING), Block(networks["states"], 4)], 9),
    }
    return made | {kind: lambda kind=kind: Block(networks[kind], 5) for kind in networks}


def found(verifier: Verifier, drafter: Drafter, sentences: Sequence[Sentence], rows: int, rule: Rule | None = None) -> list[Hypothesis]:
    options = LoopOptions(rule or Exact(), rows, LONGEST, with_scores=True)
    return sorted(decode(verifier, drafter, sentences, options), key=lambda hypothesis: hypothesis.number)


def same(one: Sequence[Hypothesis], other: Sequence[Hypothesis], kind: str) -> None:
    """Ids, log probabilities to the last bit and rounds; these only where drafts depend on nothing but their row."""
    alike = kind in ("ragged", "ngram-memory")
    assert [replace(h, rounds=0) if alike else h for h in one] == [replace(h, rounds=0) if alike else h for h in other]


KINDS = ["none", "fake", "ragged", "input-guided", "jacobi", "gs-jacobi", "ngram-memory", "lookup", "chain", *DRAFTERS]


@pytest.mark.parametrize("rows", [1, 3, 8])
@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_replayed_is_what_is_computed(kind: str, rounded: bool, rows: int) -> None:
    model, sentences = tiny_transformer(), make_sentences(14)
    made = drafters(model, sentences).get(kind, NoDrafter)
    drafter = made()
    if rounded and not isinstance(drafter, NoDrafter):
        drafter = Rounded(drafter)
    verifier, imitation = staged(model)
    same(found(verifier, drafter, sentences, rows), found(Verifier(model), made(), sentences, rows), kind)
    assert imitation.count


@pytest.mark.parametrize("rule", [Tolerant(3, 1.0), Tolerant(1, 0.0)])
@pytest.mark.parametrize("kind", ["none", "fake", "states", "own"])
def test_other_rules_are_replayed_too(kind: str, rule: Rule) -> None:
    model, sentences = tiny_transformer(), make_sentences(9)
    made = drafters(model, sentences).get(kind, NoDrafter)
    same(found(staged(model)[0], made(), sentences, 4, rule), found(Verifier(model), made(), sentences, 4, rule), kind)


@settings(deadline=None, max_examples=12)
@given(
    order=st.lists(st.tuples(st.sampled_from([16, 32]), st.sampled_from(["none", "states", "ragged"])), min_size=1, max_size=4),
    count=st.integers(1, 8),
    rows=st.integers(1, 9),
    steps=st.integers(1, 6),
    kept=st.integers(0, 3),
)
def test_one_decoding_after_another(order: list[tuple[int, str]], count: int, rows: int, steps: int, kept: int) -> None:
    model = tiny_transformer()
    verifier, plain = staged(model)[0], Verifier(model)
    with (
        mock.patch.object(cuda_steps, "STEPS", steps),
        mock.patch.object(cuda_steps, "STAGES", kept),
        mock.patch.object(cuda_steps, "WARM_UP", 1),
    ):
        for width, kind in order:
            sentences = make_sentences(count, width)
            made = drafters(model, sentences).get(kind, NoDrafter)
            same(found(verifier, made(), sentences, rows), found(plain, made(), sentences, rows), kind)
    assert len(verifier.stages._free) <= kept  # type: ignore[union-attr]


def test_sizes_that_change_take_few_graphs() -> None:
    model, sentences = tiny_transformer(), make_sentences(40)
    outputs = {h.number: h.ids for h in found(Verifier(model), NoDrafter(), sentences, 1)}
    verifier, imitation = staged(model)
    adaptive = AdaptiveBlockSize(Rounded(FakeDrafter(outputs, 12, sometimes)), CHEAP, 12)
    assert [h.ids for h in found(verifier, adaptive, sentences, 1)] == list(outputs.values())
    # Drafts of 3, 7 and 11 tokens, or 12, widened to 15.
    assert all(len(graphs) <= 4 for graphs in imitation.graphs.values())


@pytest.mark.parametrize("rows", [1, 4])
def test_sentences_that_come_later_are_replayed(rows: int) -> None:
    model, sentences = tiny_transformer(), make_sentences(8)
    (verifier, imitation), drafter = staged(model), Block(tiny_drafter(model), 5)
    for _ in range(6):
        found(verifier, drafter, sentences, rows)
    captured = imitation.count
    assert {len(graphs) for graphs in imitation.graphs.values()} <= set(range(1, rows.bit_length() + 1))  # 4, 2 and 1 rows
    found(verifier, drafter, sentences, rows)
    assert imitation.count == captured


@pytest.mark.parametrize("rows", [1, 6])
@pytest.mark.parametrize("decoding", ["greedy", "specdec", "blockwise", "input-guided", "lookup", "jacobi", "auto", "beam"])
def test_an_engine_says_the_same(decoding: str, rows: int, bundle: Bundle) -> None:
    model = tiny_transformer(vocabulary_size=len(bundle.tokenizer))
    drafter = tiny_heads(model) if decoding == "blockwise" else tiny_drafter(model)
    made = Bundle(BundleInfo(decoding="specdec"), bundle.tokenizer, model, drafter)
    sentences = [Sentence(number, each.source) for number, each in enumerate([*make_sentences(9, 16), *make_sentences(9, 48)])]
    chosen = resolve(DecodingRequest(decoding=decoding, batch_size=rows, max_length=12), made)
    verifier, imitation = staged(model)
    outputs = [{h.number: h.ids for h in Engine(made, chosen, verifier=each).decode(sentences)} for each in (verifier, None)]
    assert outputs[0] == outputs[1]
    assert (imitation.count > 0) == (decoding != "beam")


@pytest.mark.parametrize("precision", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("kind", ["none", "states"])
def test_half_precision_is_replayed_too(kind: str, precision: torch.dtype) -> None:
    model, sentences = tiny_transformer(), make_sentences(6)
    network = tiny_drafter(model)
    drafter = NoDrafter() if kind == "none" else Block(network.to(precision), 5)
    verifier, imitation = staged(model.to(precision))
    same(found(verifier, drafter, sentences, 1), found(Verifier(model), drafter, sentences, 1), kind)
    assert imitation.count


def test_drafts_have_few_widths_and_drafters_do_not_hear_of_it() -> None:
    model, sentences = tiny_transformer(), make_sentences(8)
    outputs = {h.number: h.ids for h in found(Verifier(model), NoDrafter(), sentences, 1)}
    widths, heard = set[int](), set[tuple[int, int]]()

    class Hearing(FakeDrafter):
        def propose(self, state: State) -> Draft:
            draft = super().propose(state)
            self.width = draft.ids.shape[1]
            return draft

        def observe(self, state: State, verdict: Verdict) -> None:
            super().observe(state, verdict)
            accepted = verdict.accepted
            heard.add((self.width + 1, accepted.ids.shape[1]))
            assert accepted.predictions.shape == accepted.ids.shape == verdict.states.shape[:2]

    def look(now: Round) -> None:
        widths.add(now.draft.ids.shape[1])

    drafter = Rounded(Hearing(outputs, 9, sometimes, ragged=True))
    list(decode(Verifier(model), drafter, sentences, LoopOptions(Exact(), 2, LONGEST), look))
    assert widths == {0, 3, 7, 11}
    assert all(drafted == told for drafted, told in heard)


def test_who_asks_for_some_tokens_gets_what_fits_into_the_same_width() -> None:
    drafter, free = Rounded(FakeDrafter({0: [7]}, 10, sometimes)), Rounded(SourceCopy("nearest", EOS, torch.ones(1)))
    assert drafter.block_size == 10
    assert free.block_size == 0
    for asked, bounded, unbounded in ((1, 3, 3), (3, 3, 3), (4, 7, 7), (8, 10, 11), (10, 10, 11), (0, 0, 0)):
        drafter.block_size = free.block_size = asked
        assert (drafter.block_size, free.block_size) == (bounded, unbounded)


def test_batches_come_in_few_sizes_and_no_row_is_made_up() -> None:
    verifier, _ = staged(tiny_transformer())
    seen: list[tuple[int, int]] = []

    def look(now: Round) -> None:
        seen.append((len(now.state.lengths), now.state.vacant))
        assert now.state.finished[len(now.state.lengths) - now.state.vacant :].all()

    sentences = make_sentences(40)
    hypotheses = list(decode(verifier, NoDrafter(), sentences, LoopOptions(Exact(), 24, LONGEST), look))
    assert sorted(h.number for h in hypotheses) == list(range(40))
    assert {rows for rows, _ in seen} <= {24, 16, 8, 4, 2, 1}
    assert any(vacant for _, vacant in seen)
    assert all(2 * vacant < rows for rows, vacant in seen)


@pytest.mark.parametrize(("kind", "rows"), [("none", 1), ("none", 4), ("states", 1)])
def test_addresses_stay_the_same_from_sentence_to_sentence(kind: str, rows: int) -> None:
    model = tiny_transformer(ends=0.0)
    drafter = NoDrafter() if kind == "none" else Block(tiny_drafter(model), 3)
    addresses: set[tuple[int, ...]] = set()

    def look(now: Round) -> None:
        addresses.add(tuple(tensor.data_ptr() for tensor in tensors(now.state)))

    list(decode(staged(model)[0], drafter, make_sentences(3 * rows), LoopOptions(Exact(), rows, 4), look))
    assert len(addresses) == 1


def test_two_decodings_at_a_time_do_not_share_a_place() -> None:
    model, sentences = tiny_transformer(), make_sentences(12)
    verifier = staged(model)[0]
    expected = found(Verifier(model), NoDrafter(), sentences, 2)
    both = [decode(verifier, NoDrafter(), sentences, LoopOptions(Exact(), 2, LONGEST, with_scores=True)) for _ in range(2)]
    for pair in zip(*both, strict=True):
        assert pair[0] == pair[1] == expected[pair[0].number]
    assert len(verifier.stages._free) == 2  # type: ignore[union-attr]  # two rows and one


class OnOneDevice(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Refuses what reads or makes a tensor elsewhere than on the device "meta": to copy it is to wait."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        assert all(tensor.is_meta for tensor in tensors([args, list((kwargs or {}).values()), made])), func
        return made


@pytest.mark.parametrize("rule", [Exact(), Tolerant(2, 1.0), FixedPoint()])
@pytest.mark.parametrize("kind", ["none", "states", "states, no chain", "states, two layers, copy, encoder"])
@torch.inference_mode()
def test_a_round_makes_nothing_on_another_device(kind: str, rule: Rule) -> None:
    """On the device "meta" nothing can be waited for: there are no numbers that Python could be told."""
    model = tiny_transformer()
    network = tiny_drafter(model, **DRAFTERS.get(kind, {})).to("meta")
    verifier = Verifier(model.to("meta"), forced=7)
    drafter = NoDrafter() if kind == "none" else Block(network, 5)
    kinds: set[str] = set()
    number = torch.Tensor.__int__

    def run(self: State, name: Any, function: Callable[..., Any], *inputs: Any) -> Any:
        kinds.add(name[0])
        function(self, *inputs)  # makes what is kept
        with mock.patch.object(torch.Tensor, "__int__", number), OnOneDevice():  # type: ignore[no-untyped-call]
            return function(self, *inputs)

    options = LoopOptions(rule, 2, with_scores=True)
    with mock.patch.object(State, "run", run), mock.patch.object(torch.Tensor, "__int__", lambda _: 0), rounds(3) as look:
        list(decode(verifier, drafter, make_sentences(2), options, look))
    assert kinds == ({"score", "judge", "advance"} if kind == "none" else {"propose", "score", "judge", "observe", "advance"})


class _Enough(Exception):
    """So many rounds were seen."""


@contextmanager
def rounds(number: int) -> Iterator[Callable[[Round], None]]:
    """An onlooker that stops a decoding after so many rounds."""
    seen = 0

    def look(_: Round) -> None:
        nonlocal seen
        seen += 1
        if seen == number:
            raise _Enough

    with pytest.raises(_Enough):
        yield look


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_a_captured_step_computes_with_what_lies_where_it_reads() -> None:
    capture, x = CudaCapture(), torch.ones(4, device="cuda")

    def double() -> torch.Tensor:
        return 2 * x

    assert capture.warm_up(double).tolist() == [2.0] * 4
    graphs = [capture.capture("score", double) for _ in range(2)]
    x.fill_(3.0)
    for graph in graphs:
        graph.replay()
        torch.cuda.synchronize()
        assert graph.outputs.tolist() == [6.0] * 4
