"""The adaptive block size: its choice by costs and acceptance, and the measurement of costs."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch

from specdec_cli.decoding.costs import Costs, made_up_sources
from specdec_cli.decoding.drafters.none import NoDrafter
from specdec_cli.decoding.loop import Round, decode
from specdec_cli.decoding.options import Decoding
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.state import Accepted, Draft, State, Verdict
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.text.tokenize.sentencepiece import EOS
from specdec_cli.tuning.adaptive_block_size import AdaptiveBlockSize
from specdec_cli.tuning.round_timing import UNKNOWN, measure_costs
from tests.fake_drafters import FakeDrafter, right, wrong
from tests.fakes import make_sentences, tiny_transformer

TOKENS = 60
TARGET = [7 + place % 30 for place in range(TOKENS)]
CHEAP = Costs((3, 12), (1.0, 1.7), ((1.1, 1.2), (2.0, 4.0)), ((0.1, 0.1), (0.2, 0.4)))
"""Costs of a machine on which positions are nearly free."""
DEAR = replace(CHEAP, drafting=((3.0, 9.0), (30.0, 90.0)))
"""Costs of a drafter that takes more time than it can save."""

FREE = Costs((3, 12), (1.0, 1.0), ((1.0, 1.0), (1.0, 1.0)), ((0.0, 0.0), (0.0, 0.0)))
"""Costs of another machine."""


def sizes(adaptive: AdaptiveBlockSize, sentences: int = 1) -> list[int]:
    """The number of drafted tokens in each round of decoding `TARGET`."""
    verifier, seen = Verifier(tiny_transformer(max_positions=256)), list[int]()

    def look(now: Round) -> None:
        seen.append(now.draft.ids.shape[1])

    for _ in range(sentences):
        drafter = adaptive.for_rows(1)
        list(decode(verifier, drafter, [Sentence(0, make_sentences(1, 48)[0].source)], Decoding(batch_size=1, max_length=TOKENS), look))
    return seen


def greedy_target() -> list[int]:
    verifier = Verifier(tiny_transformer(max_positions=256))
    (found,) = decode(verifier, NoDrafter(), [Sentence(0, make_sentences(1, 48)[0].source)], Decoding(batch_size=1, max_length=TOKENS))
    return found.ids


def test_right_drafts_reach_the_largest_size() -> None:
    adaptive = AdaptiveBlockSize(FakeDrafter({0: greedy_target()}, 12, right), CHEAP, 12)
    seen = sizes(adaptive, sentences=6)
    assert max(seen) == seen[-1] == 12
    assert len(seen) == adaptive.rounds
    assert adaptive.asked / adaptive.rounds == sum(seen) / len(seen)


def test_wrong_drafts_get_short_and_are_then_skipped() -> None:
    adaptive = AdaptiveBlockSize(FakeDrafter({0: greedy_target()}, 12, wrong), CHEAP, 12)
    seen = sizes(adaptive, sentences=12)
    assert seen[-1] == 0
    assert min(size for size in seen if size) < max(seen)


def test_an_expensive_drafter_is_rarely_tried() -> None:
    adaptive = AdaptiveBlockSize(FakeDrafter({0: greedy_target()}, 12, right), DEAR, 12)
    drafters = [adaptive.for_rows(1) for _ in range(400)]
    tried = [number for number, drafter in enumerate(drafters) if drafter is adaptive]
    assert tried == [31, 95, 223]  # each pause twice as long as the one before


def test_drafting_does_not_pay_for_many_rows() -> None:
    costs = Costs((3, 12), (1.0, 1.7), ((1.1, 1.4), (4.0, 12.0)), ((0.1, 0.2), (0.8, 2.4)))
    adaptive = AdaptiveBlockSize(FakeDrafter({0: TARGET}, 12, right), costs, 12)
    assert adaptive.best(1)[1]
    assert not adaptive.best(32)[1]
    assert isinstance(adaptive.for_rows(32), NoDrafter)


def test_the_best_size_maximises_tokens_per_millisecond() -> None:
    adaptive = AdaptiveBlockSize(FakeDrafter({0: TARGET}, 12, right), CHEAP, 12)
    adaptive._asked[:] = adaptive._offered[:] = [1000.0] * 12
    adaptive._passed[:] = [600.0] * 12
    rates = {}
    for size in range(1, 13):
        tokens = sum(0.6**place for place in range(size + 1))
        rates[size] = tokens / CHEAP.with_draft(1, size, size)
    assert adaptive.best(1)[0] == max(rates, key=lambda size: rates[size])


def test_costs_are_interpolated_linearly() -> None:
    costs = Costs((2, 10), (1.0, 8.0), ((2.0, 6.0), (10.0, 50.0)), ((1.0, 1.0), (3.0, 2.0)))
    assert costs.without(1) == pytest.approx(1.0)
    assert costs.without(15) == pytest.approx(15.0)
    assert costs.with_draft(1, 2, 10) == pytest.approx(7.0)
    assert costs.with_draft(1, 6, 6) == pytest.approx(5.0)
    assert costs.with_draft(8, 10, 2) == pytest.approx(13.0)  # a cost that decreases with size is noise
    assert costs.with_draft(1, 1, 0) == pytest.approx(3.0)  # at least the cost of the smallest measured size


def test_measuring_does_not_change_the_drafter() -> None:
    drafter = FakeDrafter(dict.fromkeys(range(8), TARGET), 5, right)
    costs = measure_costs(Verifier(tiny_transformer()), drafter, 5)
    assert drafter.block_size == 5
    assert costs.sizes == (3, 5)
    assert costs.without(1) > 0 and costs.with_draft(1, 3, 3) > 0


def test_costs_of_a_model_with_empty_outputs_are_measured() -> None:
    model = tiny_transformer()
    with torch.no_grad():
        model.output.bias[EOS] = 1e4
    costs = measure_costs(Verifier(model), FakeDrafter(dict.fromkeys(range(8), TARGET), 5, right), 5)
    assert costs.without(1) == costs.without(8) == UNKNOWN
    assert costs.with_draft(1, 3, 3) >= UNKNOWN


@pytest.mark.parametrize("vocabulary", [8, 5, 1, 40])
def test_made_up_sources_are_within_the_vocabulary(vocabulary: int) -> None:
    sources = made_up_sources(8, vocabulary, EOS)
    assert len(sources) == 8
    assert all(0 <= token < vocabulary for source in sources for token in source[:-1])
    assert all(source[-1] == EOS for source in sources)


def test_costs_of_a_model_with_eight_source_tokens_are_measured() -> None:
    model = tiny_transformer(source_vocabulary_size=8, shared_embeddings=False, output_bias=False)
    assert measure_costs(Verifier(model), FakeDrafter(dict.fromkeys(range(8), TARGET), 5, right), 5).without(1) > 0


class Silent:
    """A drafter whose drafts are not checked."""

    block_size, capturable = 0, False

    def begin(self, state: State, sentences: Sequence[Sentence]) -> object:  # noqa: ARG002
        return None

    def propose(self, state: State, memory: Any, size: int) -> Draft:  # noqa: ARG002
        return Draft(state.tokens[:, :size], state.lengths * 0 + size)

    def observe(self, state: State, memory: Any, verdict: Verdict) -> None:
        """Nothing to learn."""


def test_one_sentence_has_a_limited_weight_in_the_statistics() -> None:
    verifier = Verifier(tiny_transformer())
    state = verifier.begin([0], [make_sentences(1)[0].source])
    adaptive = AdaptiveBlockSize(Silent(), CHEAP, 12)

    def round_of(passing: int) -> None:
        ids = adaptive.propose(state, None, 0).ids
        counts = torch.tensor([min(passing, ids.shape[1]) + 1])
        accepted = Accepted(state.tokens[:, : ids.shape[1] + 1], counts, counts - 1, state.tokens[:, : ids.shape[1] + 1], counts - 1)
        adaptive.observe(state, None, Verdict(accepted, state.finished, state.memory.states, None))

    for rounds, passing in ((6, 1), (6, 1), (6, 1), (80, 0)):
        adaptive.begin(state, [])
        for _ in range(rounds):
            round_of(passing)
    assert not adaptive.best(1)[1]
    adaptive.begin(state, [])
    assert adaptive.best(1)[1]
