"""Rounds that are replayed as graphs equal computed ones; graphs are imitated."""

import weakref
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any
from unittest import mock

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec_cli.decoding import graph_player, graphs
from specdec_cli.decoding.drafters import Drafter, NoDrafter
from specdec_cli.decoding.drafters.copying import GivenDrafts, SourceCopy
from specdec_cli.decoding.drafters.fallback import Fallback
from specdec_cli.decoding.drafters.jacobi import Jacobi
from specdec_cli.decoding.drafters.networks import Block, Blockwise
from specdec_cli.decoding.drafters.suffix import Lookup, NgramMemory
from specdec_cli.decoding.graph_player import padded_size
from specdec_cli.decoding.lengths import by_source
from specdec_cli.decoding.loop import decode_with
from specdec_cli.decoding.options import Constraints, Decoding, DecodingOptions, Exact, Margin, Rule, Sampled, Tolerant, resolve
from specdec_cli.decoding.pace import AdaptivePace, FixedPace
from specdec_cli.decoding.rounds import DraftAndVerify, RoundTrace
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.decoding.state import Batch
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.engines.reference import Engine
from specdec_cli.engines.reference_costs import measure_costs, sizes_of
from specdec_cli.model.bundle import Bundle, BundleInfo
from specdec_cli.model.transformer import Transformer
from specdec_cli.text.tokenize.sentencepiece import EOS, PADDING
from tests.decoding.imitation import ImitatedCapture, imitated
from tests.decoding.test_pace import CHEAP
from tests.fake_drafters import FakeDrafter, right, sometimes
from tests.fakes import DRAFTERS, VOCABULARY, make_sentences, tiny_drafter, tiny_heads, tiny_transformer

LONGEST = 30
WORDS = torch.arange(VOCABULARY) % 2 == 0
CPU = torch.device("cpu")
MADE: dict[str, Callable[[Transformer], Drafter]] = {
    "none": lambda _: NoDrafter(),
    "block": lambda model: Block(tiny_drafter(model), 5),
    "linked": lambda model: Block(tiny_drafter(model, chain=8, recurrent=True, candidates=4), 5),
    **{
        kind: lambda model, kind=kind: Block(tiny_drafter(model, **DRAFTERS[kind]), 5)  # type: ignore[misc]
        for kind in ("own", "own, unshifted", "both ways", "papers")
    },
    "heads": lambda model: Blockwise(tiny_heads(model), 4),
    "input-guided": lambda _: SourceCopy("nearest", EOS, WORDS),
    "unique": lambda _: SourceCopy("unique", EOS, WORDS, 6),
    "given": lambda _: GivenDrafts(SourceCopy("nearest", EOS, WORDS)),
    "jacobi": lambda _: Jacobi(0, PADDING, by_source(1.0), beyond=3),
    "gs-jacobi": lambda _: Jacobi(6, PADDING),
    "ngram-memory": lambda _: NgramMemory(5, VOCABULARY, CPU),
    "lookup": lambda _: Lookup(5, EOS, PADDING),
    "chain": lambda model: Fallback([Lookup(5, EOS, PADDING), Block(tiny_drafter(model), 4)], 9),
    "chain, own": lambda model: Fallback([Lookup(9, EOS, PADDING), Block(tiny_drafter(model, **DRAFTERS["own"]), 3)], 9),
}


def texts(count: int, width: int = 16) -> list[Sentence]:
    """Sentences that come with a draft."""
    return [replace(each, draft=[9, *each.source]) for each in make_sentences(count, width)]


def found(
    verifier: Verifier, drafter: Drafter, sentences: Sequence[Sentence], rows: int, rule: Rule | None = None, rounds: int = 1, size: int = 0
) -> list[Hypothesis]:
    options = Decoding(acceptance=rule or Exact(), batch_size=rows, max_length=LONGEST, with_scores=True)
    decoded = decode_with(verifier, drafter, sentences, options, pace=FixedPace(size, rounds))
    return sorted(decoded, key=lambda hypothesis: hypothesis.number)


def without_rounds(hypotheses: Sequence[Hypothesis]) -> list[Hypothesis]:
    return [replace(each, rounds=0) for each in hypotheses]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("rounds", [1, 3])
@pytest.mark.parametrize("rows", [1, 3, 12])
@pytest.mark.parametrize("kind", MADE)
def test_replayed_rounds_equal_computed_ones(kind: str, rows: int, rounds: int) -> None:
    model, sentences = tiny_transformer(), texts(min(8 * rows, 40))
    imitation, drafter = imitated(model), MADE[kind](model)
    results = found(imitation.verifier, drafter, sentences, rows, rounds=rounds)
    assert without_rounds(results) == without_rounds(found(Verifier(model), MADE[kind](model), sentences, rows))
    assert imitation.capture.count
    counts = imitation.graphs.counts
    assert counts.graphs == imitation.capture.count
    assert 0 < counts.waits <= counts.bursts


@pytest.mark.parametrize("kind", ["none", "block", "own", "both ways", "heads", "gs-jacobi", "lookup"])
def test_replayed_rounds_are_as_many(kind: str) -> None:
    model, sentences = tiny_transformer(), make_sentences(14)
    results = found(imitated(model).verifier, MADE[kind](model), sentences, 4, size=3)
    assert results == found(Verifier(model), MADE[kind](model), sentences, 4, size=3)


@pytest.mark.parametrize("rule", [Tolerant(3, 1.0), Tolerant(1, 0.0), Margin(0.1), Sampled(1.0, 5, 3)])
@pytest.mark.parametrize("kind", ["none", "block", "lookup"])
def test_other_rules_are_replayed_too(kind: str, rule: Rule) -> None:
    model, sentences = tiny_transformer(), make_sentences(9)
    results = found(imitated(model).verifier, MADE[kind](model), sentences, 4, rule, size=3)
    assert results == found(Verifier(model), MADE[kind](model), sentences, 4, rule, size=3)


@settings(deadline=None, max_examples=12)
@given(
    order=st.lists(st.tuples(st.sampled_from([16, 32]), st.sampled_from(["none", "block", "input-guided"])), min_size=1, max_size=4),
    count=st.integers(1, 30),
    rows=st.integers(1, 17),
    kept=st.integers(0, 3),
)
def test_successive_decodings_reuse_buffers(order: list[tuple[int, str]], count: int, rows: int, kept: int) -> None:
    model = tiny_transformer()
    imitation, plain, made = imitated(model), Verifier(model), {kind: make(model) for kind, make in MADE.items()}
    with mock.patch.object(graphs, "MOST_FORMS", kept):
        for width, kind in order:
            sentences = make_sentences(count, width)
            results = found(imitation.verifier, made[kind], sentences, rows)
            assert without_rounds(results) == without_rounds(found(plain, made[kind], sentences, rows))
    assert len(imitation.graphs) <= kept


def test_buffers_are_freed_after_the_work_that_writes_to_them() -> None:
    """The last burst of a player may still write to its board when another one's buffers are given back."""
    freed: list[bool] = []

    class Reached:
        def synchronize(self) -> None:
            freed.append(first() is None)

    class Watched(ImitatedCapture):
        def event(self) -> Any:
            return Reached()

    kept = graphs.Graphs(Watched())
    buffers = kept.take("a", lambda: [torch.zeros(1)])
    first = weakref.ref(buffers.board("board", kept.capture, (1,)))
    with mock.patch.object(graphs, "MOST_FORMS", 1):
        kept.give_back("a", buffers)
        del buffers
        assert freed == []
        kept.give_back("b", kept.take("b", lambda: [torch.zeros(1)]))
    assert freed == [False]
    assert first() is None


def test_fewer_buffers_are_kept_on_a_small_card() -> None:
    kept = graphs.Graphs(ImitatedCapture(memory=graphs.KEPT_SHARE * 100))
    for name, numbers in (("a", 10), ("b", 10), ("c", 10), ("d", 30)):  # of 4 bytes
        kept.give_back(name, graphs.Buffers([torch.zeros(numbers)], kept.capture, kept.counts))
        assert len(kept) == {"a": 1, "b": 2, "c": 2, "d": 1}[name]


def test_a_failed_capture_tells_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of an invalid capture is an error of its own, which is not told."""
    monkeypatch.setattr(torch.cuda, "Stream", mock.MagicMock)
    monkeypatch.setattr(torch.cuda, "current_stream", mock.MagicMock)
    monkeypatch.setattr(torch.cuda, "stream", lambda _: nullcontext())
    made = mock.MagicMock()
    made.capture_end.side_effect = RuntimeError("the operation failed during a capture")
    monkeypatch.setattr(torch.cuda, "CUDAGraph", lambda: made)
    capture = graphs.CudaCapture()

    def compute() -> None:
        raise ValueError("a value was read")

    with pytest.raises(ValueError, match="a value was read"):
        capture.capture(compute)
    made.capture_end.assert_called_once_with()
    with pytest.raises(RuntimeError, match="failed during a capture"):
        capture.capture(lambda: None)


@pytest.mark.parametrize("rows", [1, 12])
def test_later_sentences_capture_nothing_new(rows: int) -> None:
    model, sentences = tiny_transformer(), make_sentences(48)
    imitation, drafter = imitated(model), Block(tiny_drafter(model), 5)
    for _ in range(2):
        found(imitation.verifier, drafter, sentences, rows)
    captured = imitation.capture.count
    assert captured <= 2 + 2 * 4  # bursts, and sentences entering by one, two, four or eight, or all at once
    found(imitation.verifier, drafter, sentences, rows)
    assert imitation.capture.count == captured
    assert imitation.graphs.counts.forms == 1


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
    engine = Engine(made, chosen, verifier=imitation.verifier)
    assert decoding != "greedy" or engine.captured == "none; operators were launched one by one"
    outputs = [{h.number: h.ids for h in each.decode(sentences)} for each in (engine, Engine(made, chosen))]
    assert outputs[0] == outputs[1]
    assert f"{imitation.graphs.counts.bursts:,} bursts" in engine.captured
    assert imitation.graphs.counts.bursts


@pytest.mark.parametrize("precision", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("kind", ["none", "block"])
def test_rounds_in_half_precision_are_replayed(kind: str, precision: torch.dtype) -> None:
    model, sentences = tiny_transformer(), make_sentences(6)
    network = tiny_drafter(model)
    drafter = NoDrafter() if kind == "none" else Block(network.to(precision), 5)
    imitation = imitated(model.to(precision))
    assert found(imitation.verifier, drafter, sentences, 1) == found(Verifier(model), drafter, sentences, 1)
    assert imitation.capture.count


def test_rounds_that_read_values_are_not_captured() -> None:
    model, sentences = tiny_transformer(), make_sentences(6)
    imitation = imitated(model)
    drafter = FakeDrafter({number: [7, EOS] for number in range(6)}, 3, right)
    assert found(imitation.verifier, drafter, sentences, 2) == found(Verifier(model), drafter, sentences, 2)
    assert not imitation.graphs.counts.bursts
    seen: list[RoundTrace] = []
    list(decode_with(imitation.verifier, NoDrafter(), sentences, Decoding(max_length=LONGEST), seen.append))
    assert seen
    assert not imitation.graphs.counts.bursts


def test_simultaneous_decodings_use_different_buffers() -> None:
    model, sentences = tiny_transformer(), make_sentences(12)
    imitation = imitated(model)
    verifier = imitation.verifier
    expected = found(Verifier(model), NoDrafter(), sentences, 2)
    both = [decode_with(verifier, NoDrafter(), sentences, Decoding(batch_size=2, max_length=LONGEST, with_scores=True)) for _ in range(2)]
    for pair in zip(*both, strict=True):
        assert pair[0] == pair[1] == expected[pair[0].number]
    assert imitation.graphs.counts.forms == 2


def test_reports_of_large_batches_are_a_burst_late() -> None:
    model, sentences = tiny_transformer(), make_sentences(60)
    for rows, late in ((graph_player.ALONE, 0), (2 * graph_player.ALONE, 1)):
        imitation = imitated(model)
        results = found(imitation.verifier, NoDrafter(), sentences, rows)
        assert without_rounds(results) == without_rounds(found(Verifier(model), NoDrafter(), sentences, rows))
        assert imitation.graphs.counts.bursts - imitation.graphs.counts.waits == late


def test_the_last_rows_move_to_smaller_buffers() -> None:
    model, sentences = tiny_transformer(), make_sentences(70)
    for kind in ("none", "block", "input-guided"):
        imitation, drafter = imitated(model), MADE[kind](model)
        with mock.patch.object(imitation.capture, "send", wraps=imitation.capture.send) as send:
            for _ in range(2):
                results = found(imitation.verifier, drafter, sentences, 64)
                assert without_rounds(results) == without_rounds(found(Verifier(model), drafter, sentences, 64))
        assert imitation.graphs.counts.forms == 2
        # Which rows move is brought to the device without a wait.
        assert (2 * graph_player.ALONE,) in {call.args[1].shape for call in send.call_args_list}


def test_an_adaptive_pace_is_told_what_rows_drafted_and_accepted() -> None:
    model, sentences = tiny_transformer(), make_sentences(40)
    seen = []
    for verifier in (imitated(model).verifier, Verifier(model)):
        pace = AdaptivePace(CHEAP, 3)
        decoded = decode_with(verifier, Block(tiny_drafter(model), 3), sentences, Decoding(max_length=LONGEST), pace=pace)
        assert len(list(decoded)) == 40
        seen.append(pace)
    captured, plain = seen
    assert captured.rounds >= plain.rounds > 0
    assert all(passed <= asked for asked, passed in zip(captured._asked, captured._passed, strict=True))


def test_changing_sizes_need_few_graphs() -> None:
    model, sentences = tiny_transformer(), make_sentences(40)
    imitation = imitated(model)

    class Sizes(AdaptivePace):
        def next(self, running: int) -> tuple[int, int]:
            rounds, _ = super().next(running)
            self.rounds += 1
            return rounds, 1 + self.rounds % 12

    drafter = Lookup(0, EOS, PADDING)
    decoded = decode_with(imitation.verifier, drafter, sentences, Decoding(max_length=LONGEST), pace=Sizes(CHEAP, 12))
    plain = decode_with(Verifier(model), NoDrafter(), sentences, Decoding(max_length=LONGEST))
    assert {h.number: h.ids for h in decoded} == {h.number: h.ids for h in plain}
    assert imitation.capture.count <= 1 + 3 * 3  # drafts of 3, 7 and 15 tokens, and bursts of 1, 2 and 4 rounds


def test_sizes_are_padded_to_a_power_of_two() -> None:
    assert [padded_size(size) for size in (0, 1, 3, 4, 8, 10, 31)] == [0, 3, 3, 7, 15, 15, 31]


def test_an_adaptive_pace_chooses_sizes_that_run_by_their_costs() -> None:
    model = tiny_transformer()
    imitation, drafter, ran = imitated(model), Block(tiny_drafter(model), 5), set[int]()
    lookup = Lookup(0, EOS, PADDING)
    assert [*sizes_of(imitation.verifier, drafter, 5)] == [3, 5]
    assert [*sizes_of(imitation.verifier, lookup, 48)] == [3, 7, 15, 31, 63]
    assert [*sizes_of(Verifier(model), drafter, 5)] == [1, 2, 3, 4, 5]
    assert measure_costs(imitation.verifier, drafter, 5).sizes == (3, 5)
    assert measure_costs(imitation.verifier, lookup, 48).sizes == (3, 7, 15)
    play = DraftAndVerify.play

    def watched(round_: DraftAndVerify, batch: Batch, size: int, **options: Any) -> Any:
        result = play(round_, batch, size, **options)
        ran.add(result[0].ids.shape[1])
        return result

    sizes = sizes_of(imitation.verifier, lookup, 12)
    pace, asked = AdaptivePace(CHEAP, sizes[-1], sizes), set[int]()
    with mock.patch.object(DraftAndVerify, "play", watched):
        for passing in (0.0, 0.5, 0.7, 0.9, 1.0):
            pace._asked[:] = pace._offered[:] = [1000.0] * sizes[-1]
            pace._passed[:] = [1000 * passing] * sizes[-1]
            asked.add(pace.best(1)[0])
            pace._choices.clear()
            list(decode_with(imitation.verifier, lookup, make_sentences(2), Decoding(max_length=LONGEST, batch_size=1), pace=pace))
    assert asked == ran == {3, 7, 15}


def test_a_drafter_that_reads_values_cannot_be_captured() -> None:
    model, sentences = tiny_transformer(), make_sentences(3)
    drafter = FakeDrafter({number: [7, EOS] for number in range(3)}, 3, sometimes)
    drafter.capturable, drafter.reads_sentences = True, False
    with pytest.raises(Exception, match="waits for the device"):
        found(imitated(model).verifier, drafter, sentences, 3)


def test_constraints_are_kept() -> None:
    model, sentences = tiny_transformer(), make_sentences(9)
    rules = Constraints(no_repeat_ngram_size=2, min_length=4)
    results = found(imitated(model, 7, rules).verifier, NoDrafter(), sentences, 3)
    assert results == found(Verifier(model, 7, rules), NoDrafter(), sentences, 3)
