"""Rounds computed in one call of the compiled kernels equal those of the operators."""

from typing import Any
from unittest import mock

import pytest
import torch
from torch import Tensor
from torch.profiler import ProfilerActivity, profile

from specdec_cli.decoding.accept import Exact, Tolerant
from specdec_cli.decoding.drafters.none import NoDrafter
from specdec_cli.decoding.drafters.source_copy import CopyState, SourceCopy
from specdec_cli.decoding.execution.kernels import KernelExecution
from specdec_cli.decoding.execution.operators import OperatorExecution
from specdec_cli.decoding.loop import LoopOptions, decode
from specdec_cli.decoding.state import Accepted, Draft, State, Verdict
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.kernels import build
from specdec_cli.kernels.build import load_kernels
from specdec_cli.text.subwords import EOS
from tests.fakes import VOCABULARY, in_precision, make_sentences, tiny_transformer

MODELS: dict[str, dict[str, Any]] = {
    "pre-norm": {},
    "post-norm": {"activation": "gelu", "norm": "post", "embedding_norm": True, "position_offset": 2},
    "several tiles": {"vocabulary_size": 200, "width": 80, "heads": 5, "feed_forward": 208},
    "scaled, untied, of one layer": {"embedding_scale": True, "tied_output": False, "decoder_layers": 1, "encoder_layers": 2},
}


@pytest.fixture(autouse=True)
def compiled() -> None:
    """Skip the tests without a compiler or the instructions."""
    if load_kernels() is None:
        pytest.skip("no kernels on this machine")


def both(forced: int | None, **changes: Any) -> tuple[Verifier, Verifier]:
    """A verifier with compiled rounds, and one of the same model without kernels."""
    with_kernels, plain = (Verifier(in_precision(tiny_transformer(**changes), name), forced) for name in ("int8", "int8 by operators"))
    assert isinstance(with_kernels.execution, KernelExecution) and isinstance(plain.execution, OperatorExecution)
    return with_kernels, plain


def drafts(state: State, outputs: dict[int, list[int]], generator: torch.Generator) -> Draft:
    """Drafts of several lengths with some right tokens, then wrong ones, and arbitrary tokens after the end of a draft."""
    size = int(torch.randint(0, 12, (1,), generator=generator))
    ids = torch.randint(0, VOCABULARY, (len(state.lengths), size), generator=generator)
    for row, number in enumerate(state.numbers.tolist()):
        right = outputs[number][int(state.lengths[row]) - 1 :][: int(torch.randint(0, 12, (1,), generator=generator))][:size]
        ids[row, : len(right)] = torch.tensor(right, dtype=torch.long)
    return Draft(ids, torch.randint(0, size + 1, (len(ids),), generator=generator))


def same_verdict(found: Verdict, expected: Verdict, finished: Tensor, offered: Tensor) -> None:
    """Assert that two verdicts are equal in the slots of each row's draft; the others are undefined."""
    mine, theirs = found.accepted, expected.accepted
    assert torch.equal(mine.counts, theirs.counts)
    assert torch.equal(found.ended, expected.ended)
    for row in range(len(finished)):
        if finished[row]:
            continue
        asked, count = int(offered[row]) + 1, int(mine.counts[row])
        assert mine.bifurcation[row] == theirs.bifurcation[row]
        assert torch.equal(mine.predictions[row, :asked], theirs.predictions[row, :asked])
        assert torch.equal(mine.ids[row, :count], theirs.ids[row, :count])
        assert torch.equal(found.states[row, :asked], expected.states[row, :asked])
        assert found.log_probabilities is not None and expected.log_probabilities is not None
        assert torch.equal(found.log_probabilities[row, :count], expected.log_probabilities[row, :count])


@pytest.mark.slow
@pytest.mark.parametrize("forced", [None, 9])
@pytest.mark.parametrize("rows", [1, 2, 7])
@pytest.mark.parametrize("name", MODELS)
@torch.inference_mode()
def test_rounds_equal_those_of_the_operators(name: str, rows: int, forced: int | None) -> None:
    mine, plain = both(forced, **MODELS[name])
    vocabulary = plain.model.config.vocabulary_size
    sentences = make_sentences(rows, vocabulary=vocabulary)
    options = LoopOptions(Exact(), rows, 25)
    outputs = {h.number: h.ids for h in decode(plain, NoDrafter(), sentences, options)}
    assert forced is None or all(ids[0] == forced for ids in outputs.values())
    state, beside = (v.begin([s.number for s in sentences], [s.source for s in sentences], 25) for v in (plain, mine))
    assert torch.equal(state.memory.states, beside.memory.states)
    generator = torch.Generator().manual_seed(rows)
    while not state.finished.all():
        draft = drafts(state, outputs, generator)
        verdict, expected = (v.verify(s, draft, Exact(), with_scores=True) for v, s in ((mine, beside), (plain, state)))
        same_verdict(verdict, expected, state.finished, draft.counts)
        assert mine.execution.advance(beside, verdict) == plain.execution.advance(state, expected)
        for name in ("lengths", "finished", "rounds"):
            assert torch.equal(getattr(beside, name), getattr(state, name))
        for row, length in enumerate(state.lengths.tolist()):
            assert torch.equal(beside.tokens[row, :length], state.tokens[row, :length])
            assert torch.equal(beside.log_probabilities[row, :length], state.log_probabilities[row, :length])
            assert torch.equal(beside.cache.whole[row, : length - 1], state.cache.whole[row, : length - 1])
    assert {h.number: h.ids for h in decode(mine, NoDrafter(), sentences, options)} == outputs


@pytest.mark.parametrize("threads", [2, 3])
@torch.inference_mode()
def test_several_threads_give_equal_results(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    mine, plain = both(None, **MODELS["several tiles"])
    sentences, options = make_sentences(7, vocabulary=200), LoopOptions(Exact(), 7, 12, with_scores=True)
    expected = list(decode(plain, NoDrafter(), sentences, options))
    monkeypatch.setattr(build, "WORTH_SHARING", 1)
    torch.set_num_threads(threads)
    assert build.Kernels.threads(1) == threads
    assert list(decode(mine, NoDrafter(), sentences, options)) == expected


@torch.inference_mode()
def test_other_rules_and_precisions_use_operators() -> None:
    mine, _ = both(None)
    state = mine.begin([0], [make_sentences(1)[0].source])
    draft = Draft(state.tokens[:, :2], state.lengths * 0 + 2)
    with mock.patch.object(mine, "score", wraps=mine.score) as score:
        mine.verify(state, draft, Exact())
        assert not score.called
        mine.verify(state, draft, Tolerant(2, 1.0))
        assert score.called
    for model in (tiny_transformer(), in_precision(tiny_transformer(), "int8 by operators")):
        assert isinstance(Verifier(model).execution, OperatorExecution)


@torch.inference_mode()
def test_an_advance_takes_any_verdict() -> None:
    """Also verdicts of the operators: those of other rules, and those of decoding by the drafter alone."""
    mine, plain = both(None)
    sources = [sentence.source for sentence in make_sentences(3)]
    states = [verifier.begin(range(3), sources) for verifier in (mine, plain)]
    generator = torch.Generator().manual_seed(1)
    for _ in range(4):
        ids = torch.randint(0, VOCABULARY, (3, 4), generator=generator)
        draft = Draft(ids, torch.randint(0, 5, (3,), generator=generator))
        verdict = plain.verify(states[1], draft, Tolerant(VOCABULARY, 2.0), with_scores=True)
        finished = [v.execution.advance(state, verdict) for v, state in zip((mine, plain), states, strict=True)]
        assert finished[0] == finished[1]
        for name in ("lengths", "finished", "rounds"):
            assert torch.equal(getattr(states[0], name), getattr(states[1], name))
        for row, length in enumerate(states[1].lengths.tolist()):
            assert torch.equal(states[0].tokens[row, :length], states[1].tokens[row, :length])
            assert torch.equal(states[0].log_probabilities[row, :length], states[1].log_probabilities[row, :length])


@torch.inference_mode()
def test_a_round_calls_few_operators() -> None:
    def calls(layers: int) -> int:
        verifier = both(None, decoder_layers=layers)[0]
        state = verifier.begin([0], [make_sentences(1)[0].source])
        draft = Draft(state.tokens[:, :3], state.lengths * 0 + 3)
        with profile(activities=[ProfilerActivity.CPU]) as seen:
            verifier.execution.advance(state, verifier.verify(state, draft, Exact(), with_scores=True))
        return sum(event.count for event in seen.key_averages() if event.key.startswith("aten::"))

    assert calls(2) == calls(4) <= 20


def test_copies_continue_as_with_the_operators() -> None:
    word_starts = torch.arange(VOCABULARY) % 2 == 0
    mine, plain = SourceCopy("nearest", EOS, word_starts, 6, load_kernels()), SourceCopy("nearest", EOS, word_starts, 6)
    assert mine._kernels is not None and plain._kernels is None
    verifier = Verifier(tiny_transformer())
    generator = torch.Generator().manual_seed(1)

    def draw(most: int, *shape: int) -> Tensor:
        return torch.randint(0, most, shape, generator=generator)

    lost = 0
    for _ in range(200):
        # A small vocabulary makes tokens repeat.
        sources = [[*(8 + draw(12, int(draw(14, 1)) + 1)).tolist(), EOS] for _ in range(4)]
        state = verifier.begin(list(range(4)), sources, 20)
        state.finished = draw(4, 4) == 0
        records = [drafter.begin(state) for drafter in (mine, plain)]
        for _ in range(5):
            state.lengths = (state.lengths + draw(4, 4)).minimum(state.limits)
            found = []
            for drafter, record in zip((mine, plain), records, strict=True):
                state.drafting = record
                found.append(drafter.propose(state))
            assert torch.equal(found[0].ids, found[1].ids) and torch.equal(found[0].counts, found[1].counts)
            passed = (found[0].counts * torch.rand(4, generator=generator)).long()
            ids = torch.cat([found[0].ids, found[0].ids[:, :1] if found[0].ids.shape[1] else draw(40, 4, 1)], 1)
            ids = torch.where(torch.arange(ids.shape[1]) < passed[:, None], ids, 8 + draw(14, *ids.shape))
            accepted = Accepted(ids, (passed + 1).masked_fill(state.finished, 0), passed, ids, passed)
            for drafter, record in zip((mine, plain), records, strict=True):
                state.drafting = record
                drafter.observe(state, Verdict(accepted, state.finished, torch.zeros(4, ids.shape[1], 1), None))
            for record in records:
                assert isinstance(record, CopyState)
                assert torch.equal(record.start, records[1].start) and torch.equal(record.misses, records[1].misses)
            lost += int((records[0].misses > 1).sum())
    assert lost > 20  # the backward search was used too


@pytest.mark.parametrize("token", [-1, VOCABULARY, 10**9])
def test_ids_beyond_the_vocabulary_do_not_reach_the_kernels(token: int) -> None:
    with pytest.raises(ValueError, match=f"source ids must be below {VOCABULARY}"):
        both(None)[0].begin([0], [[9, token, EOS]])
