"""Rounds by captured graphs equal rounds by operators; graphs are imitated."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from unittest import mock

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec_cli.decoding.drafters import Drafter
from specdec_cli.decoding.drafters.block import Block
from specdec_cli.decoding.drafters.fallback import Fallback
from specdec_cli.decoding.drafters.jacobi import Jacobi
from specdec_cli.decoding.drafters.lengths import by_source
from specdec_cli.decoding.drafters.lookup import Lookup
from specdec_cli.decoding.drafters.ngram_memory import NgramMemory
from specdec_cli.decoding.drafters.none import NoDrafter
from specdec_cli.decoding.drafters.source_copy import SourceCopy
from specdec_cli.decoding.execution import cuda_buffers
from specdec_cli.decoding.execution.cuda_execution import padded_size
from specdec_cli.decoding.execution.cuda_graphs import CudaCapture
from specdec_cli.decoding.loop import decode_with
from specdec_cli.decoding.options import Decoding, DecodingOptions, Exact, Rule, Tolerant, resolve
from specdec_cli.decoding.pace import AdaptivePace
from specdec_cli.decoding.rounds import RoundTrace
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.decoding.state import NO_SENTENCE
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.bundle import Bundle, BundleInfo
from specdec_cli.model.rows import tensors
from specdec_cli.model.transformer import Transformer
from specdec_cli.pipeline.engine import Engine
from specdec_cli.text.tokenize.sentencepiece import EOS, PADDING
from tests.decoding.execution.imitation import imitated
from tests.decoding.test_pace import CHEAP
from tests.fake_drafters import FakeDrafter, sometimes, wrong_at_the_end
from tests.fakes import DRAFTERS, VOCABULARY, make_sentences, tiny_drafter, tiny_heads, tiny_transformer

LONGEST = 30
Make = Callable[[Verifier], Drafter]


def drafters(model: Transformer, sentences: Sequence[Sentence]) -> dict[str, Make]:
    """Makes new drafters of each kind, whose steps run on the verifier's execution."""
    options = Decoding(max_length=LONGEST)
    outputs = {h.number: h.ids for h in decode_with(Verifier(model), NoDrafter(), sentences, options)}
    words, networks = torch.arange(VOCABULARY) % 2 == 0, {kind: tiny_drafter(model, **DRAFTERS[kind]) for kind in DRAFTERS}
    made: dict[str, Make] = {
        "none": lambda _: NoDrafter(),
        "fake": lambda _: FakeDrafter(outputs, 5, wrong_at_the_end),
        "ragged": lambda _: FakeDrafter(outputs, 7, sometimes, ragged=True),
        "input-guided": lambda _: SourceCopy("nearest", EOS, words),
        "jacobi": lambda _: Jacobi(0, PADDING, by_source(1.0, PADDING), beyond=3),
        "gs-jacobi": lambda _: Jacobi(6, PADDING),
        "ngram-memory": lambda _: NgramMemory(5, VOCABULARY, torch.device("cpu")),
        "lookup": lambda _: Lookup(5, EOS, PADDING),
        "chain": lambda verifier: Fallback([Lookup(5, EOS, PADDING), Block(networks["states"], 4, verifier.run)], 9),
    }
    return made | {kind: lambda verifier, kind=kind: Block(networks[kind], 5, verifier.run) for kind in networks}


def found(verifier: Verifier, drafter: Drafter, sentences: Sequence[Sentence], rows: int, rule: Rule | None = None) -> list[Hypothesis]:
    options = Decoding(acceptance=rule or Exact(), batch_size=rows, max_length=LONGEST, with_scores=True)
    return sorted(decode_with(verifier, drafter, sentences, options), key=lambda hypothesis: hypothesis.number)


def same(one: Sequence[Hypothesis], other: Sequence[Hypothesis], kind: str) -> None:
    """Assert equal ids, log probabilities and, for drafters whose drafts depend only on their row, rounds."""
    alike = kind in ("ragged", "ngram-memory")
    assert [replace(h, rounds=0) if alike else h for h in one] == [replace(h, rounds=0) if alike else h for h in other]


KINDS = ["none", "fake", "ragged", "input-guided", "jacobi", "gs-jacobi", "ngram-memory", "lookup", "chain", *DRAFTERS]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("rows", [1, 3, 8])
@pytest.mark.parametrize("kind", KINDS)
def test_replayed_steps_equal_computed_ones(kind: str, rows: int) -> None:
    model, sentences = tiny_transformer(), make_sentences(14)
    make, plain, imitation = drafters(model, sentences)[kind], Verifier(model), imitated(model)
    drafter = make(imitation.verifier)
    same(found(imitation.verifier, drafter, sentences, rows), found(plain, make(plain), sentences, rows), kind)
    assert imitation.capture.count


@pytest.mark.sampled(2)
@pytest.mark.parametrize("rule", [Tolerant(3, 1.0), Tolerant(1, 0.0)])
@pytest.mark.parametrize("kind", ["none", "fake", "states", "own"])
def test_tolerant_rules_are_replayed_too(kind: str, rule: Rule) -> None:
    model, sentences = tiny_transformer(), make_sentences(9)
    make, plain, verifier = drafters(model, sentences)[kind], Verifier(model), imitated(model).verifier
    same(found(verifier, make(verifier), sentences, 4, rule), found(plain, make(plain), sentences, 4, rule), kind)


@settings(deadline=None, max_examples=12)
@given(
    order=st.lists(st.tuples(st.sampled_from([16, 32]), st.sampled_from(["none", "states", "ragged"])), min_size=1, max_size=4),
    count=st.integers(1, 8),
    rows=st.integers(1, 9),
    steps=st.integers(1, 6),
    kept=st.integers(0, 3),
)
def test_successive_decodings_reuse_buffers(order: list[tuple[int, str]], count: int, rows: int, steps: int, kept: int) -> None:
    model = tiny_transformer()
    imitation, plain = imitated(model), Verifier(model)
    verifier = imitation.verifier
    with (
        mock.patch.object(cuda_buffers, "MOST_STEPS", steps),
        mock.patch.object(cuda_buffers, "MOST_FREE", kept),
        mock.patch.object(cuda_buffers, "WARM_UP_CALLS", 1),
    ):
        for width, kind in order:
            sentences = make_sentences(count, width)
            make = drafters(model, sentences)[kind]
            same(found(verifier, make(verifier), sentences, rows), found(plain, make(plain), sentences, rows), kind)
    assert len(imitation.graphs.pool) <= kept


@pytest.mark.parametrize("rows", [1, 4])
def test_later_sentences_are_replayed(rows: int) -> None:
    model, sentences = tiny_transformer(), make_sentences(8)
    imitation = imitated(model)
    verifier, graphs = imitation.verifier, imitation.capture.graphs
    drafter = Block(tiny_drafter(model), 5, verifier.run)
    for _ in range(6):
        found(verifier, drafter, sentences, rows)
    captured = imitation.capture.count
    assert set(graphs) == {"propose", "score", "judge", "observe", "advance"}
    assert {len(each) for each in graphs.values()} <= set(range(1, rows.bit_length() + 1))  # 4, 2 and 1 rows
    found(verifier, drafter, sentences, rows)
    assert imitation.capture.count == captured


@pytest.mark.sampled(2)
@pytest.mark.parametrize("rows", [1, 6])
@pytest.mark.parametrize("decoding", ["greedy", "specdec", "blockwise", "input-guided", "lookup", "jacobi", "auto", "beam"])
def test_an_engine_gives_the_same_output(decoding: str, rows: int, bundle: Bundle) -> None:
    model = tiny_transformer(vocabulary_size=len(bundle.tokenizer))
    drafter = tiny_heads(model) if decoding == "blockwise" else tiny_drafter(model)
    made = Bundle(BundleInfo(decoding="specdec"), bundle.tokenizer, model, drafter)
    sentences = [Sentence(number, each.source) for number, each in enumerate([*make_sentences(9, 16), *make_sentences(9, 48)])]
    trained = decoding in ("specdec", "blockwise")  # with a fixed block size nothing depends on timing
    chosen = resolve(DecodingOptions(decoding=decoding, batch_size=rows, max_length=12, block_size=4 if trained else None), made)
    imitation = imitated(model)
    outputs = [{h.number: h.ids for h in Engine(made, chosen, verifier=each).decode(sentences)} for each in (imitation.verifier, None)]
    assert outputs[0] == outputs[1]
    assert (imitation.capture.count > 0) == (decoding != "beam")
    assert not trained or "propose" in imitation.capture.graphs


@pytest.mark.parametrize("precision", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("kind", ["none", "states"])
def test_half_precision_steps_are_replayed(kind: str, precision: torch.dtype) -> None:
    model, sentences = tiny_transformer(), make_sentences(6)
    network = tiny_drafter(model)
    imitation = imitated(model.to(precision))
    verifier = imitation.verifier
    drafter = NoDrafter() if kind == "none" else Block(network.to(precision), 5, verifier.run)
    same(found(verifier, drafter, sentences, 1), found(Verifier(model), drafter, sentences, 1), kind)
    assert imitation.capture.count


def test_batches_have_few_sizes_and_empty_rows_no_output() -> None:
    seen: list[tuple[int, int]] = []

    def look(now: RoundTrace) -> None:
        empty = now.state.numbers == NO_SENTENCE
        seen.append((len(empty), int(empty.sum())))
        assert empty[len(empty) - seen[-1][1] :].all() and now.state.finished[empty].all()

    sentences = make_sentences(40)
    options = Decoding(batch_size=24, max_length=LONGEST)
    hypotheses = list(decode_with(imitated(tiny_transformer()).verifier, NoDrafter(), sentences, options, look))
    assert sorted(h.number for h in hypotheses) == list(range(40))
    assert {rows for rows, _ in seen} <= {24, 16, 8, 4, 2, 1}
    assert any(empty for _, empty in seen)
    assert all(2 * empty < rows for rows, empty in seen)


@pytest.mark.parametrize(("kind", "rows"), [("none", 1), ("none", 4), ("states", 1)])
def test_buffers_keep_their_addresses(kind: str, rows: int) -> None:
    model = tiny_transformer(ends=0.0)
    verifier = imitated(model).verifier
    drafter = NoDrafter() if kind == "none" else Block(tiny_drafter(model), 3, verifier.run)
    addresses: set[tuple[int, ...]] = set()

    def look(now: RoundTrace) -> None:
        addresses.add(tuple(tensor.data_ptr() for tensor in tensors(now.state)))

    list(decode_with(verifier, drafter, make_sentences(3 * rows), Decoding(batch_size=rows, max_length=4), look))
    assert len(addresses) == 1


def test_simultaneous_decodings_use_different_buffers() -> None:
    model, sentences = tiny_transformer(), make_sentences(12)
    imitation = imitated(model)
    verifier = imitation.verifier
    expected = found(Verifier(model), NoDrafter(), sentences, 2)
    both = [decode_with(verifier, NoDrafter(), sentences, Decoding(batch_size=2, max_length=LONGEST, with_scores=True)) for _ in range(2)]
    for pair in zip(*both, strict=True):
        assert pair[0] == pair[1] == expected[pair[0].number]
    assert len(imitation.graphs.pool) == 2  # two rows and one


def test_changing_sizes_need_few_graphs() -> None:
    model, sentences = tiny_transformer(), make_sentences(40)
    outputs = {h.number: h.ids for h in found(Verifier(model), NoDrafter(), sentences, 1)}
    imitation, sizes = imitated(model), set[int]()

    class Sizes(AdaptivePace):
        def next(self, running: int) -> tuple[int, int]:
            sizes.add(super().next(running)[1])
            return super().next(running)

    options, pace = Decoding(max_length=LONGEST), Sizes(CHEAP, 12)
    decoded = decode_with(imitation.verifier, FakeDrafter(outputs, 12, sometimes), sentences, options, pace=pace)
    assert {h.number: h.ids for h in decoded} == outputs
    assert len(sizes) > 4
    # Drafts of 3, 7, 11 and 12 tokens.
    assert all(len(graphs) <= 4 for graphs in imitation.capture.graphs.values())
    assert all(passed <= asked for asked, passed in zip(pace._asked, pace._passed, strict=True))


def test_sizes_are_padded_to_a_multiple_of_four_positions() -> None:
    assert [padded_size(size) for size in (0, 1, 3, 4, 8, 10)] == [0, 3, 3, 7, 11, 11]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_a_captured_step_reads_the_current_values_of_its_inputs() -> None:
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
