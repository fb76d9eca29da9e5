"""The adaptive pace: its choice of sizes by costs and acceptance, and when it skips drafts."""

from dataclasses import replace
from itertools import pairwise

from specdec_cli.decoding.costs import Costs
from specdec_cli.decoding.drafters import NoDrafter
from specdec_cli.decoding.loop import decode_with
from specdec_cli.decoding.options import Decoding
from specdec_cli.decoding.pace import AdaptivePace, Tallies
from specdec_cli.decoding.rounds import RoundTrace
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.verifier import Verifier
from tests.fake_drafters import FakeDrafter, Guess, right, wrong
from tests.fakes import make_sentences, tiny_transformer

TOKENS = 60
CHEAP = Costs((3, 12), (1.0, 1.7), ((1.1, 1.2), (2.0, 4.0)), ((0.1, 0.1), (0.2, 0.4)))
"""Costs of a machine on which positions are nearly free."""
DEAR = replace(CHEAP, drafting=((3.0, 9.0), (30.0, 90.0)))
"""Costs of a drafter that takes more time than it can save."""

FREE = Costs((3, 12), (1.0, 1.0), ((1.0, 1.0), (1.0, 1.0)), ((0.0, 0.0), (0.0, 0.0)))
"""Costs of another machine."""


def sizes(pace: AdaptivePace, guess: Guess, sentences: int) -> list[int]:
    """The number of drafted tokens in each round of decoding a sentence again and again, with drafts where they pay."""
    verifier, seen = Verifier(tiny_transformer(max_positions=256)), list[int]()
    sentence, options = Sentence(0, make_sentences(1, 48)[0].source), Decoding(batch_size=1, max_length=TOKENS)
    (greedy,) = decode_with(verifier, NoDrafter(), [sentence], options)
    drafter = FakeDrafter({0: greedy.ids}, 12, guess)

    def look(now: RoundTrace) -> None:
        seen.append(now.draft.ids.shape[1])

    for _ in range(sentences):
        if pace.pays(1):
            list(decode_with(verifier, drafter, [sentence], options, look, pace))
        else:
            list(decode_with(verifier, NoDrafter(), [sentence], options, look))
    return seen


def test_right_drafts_reach_the_largest_size() -> None:
    pace = AdaptivePace(CHEAP, 12)
    seen = sizes(pace, right, 6)
    assert max(seen) == seen[-1] == 12
    assert len(seen) == pace.rounds
    assert pace.asked / pace.rounds == sum(seen) / len(seen)


def test_wrong_drafts_get_short_and_are_then_skipped() -> None:
    seen = sizes(AdaptivePace(CHEAP, 12), wrong, 12)
    assert seen[-1] == 0
    assert min(size for size in seen if size) < max(seen)


def test_a_drafter_that_costs_more_than_it_can_save_is_never_tried() -> None:
    pace = AdaptivePace(DEAR, 12)
    assert not any(pace.pays(1) for _ in range(400))


def test_trials_of_useless_drafts_get_rare_and_end() -> None:
    pace = AdaptivePace(CHEAP, 12)
    tried = []
    for number in range(10_000):
        if pace.pays(1):
            tried.append(number)
            pace.admitted()
            for _ in range(20):
                _, size = pace.next(1)
                pace.count(Tallies.of_rows(1, size, [(size, 0)]))
    first = next(number for number, following in pairwise(tried) if following > number + 1)
    assert first < 8
    pauses = [following - number for number, following in pairwise([each for each in tried if each >= first])]
    assert pauses == [4, 8, 16, 32, 64, 128, 256, 512, 1024]  # and no more


def test_drafting_does_not_pay_for_many_rows() -> None:
    pace = AdaptivePace(Costs((3, 12), (1.0, 1.7), ((1.1, 1.4), (4.0, 12.0)), ((0.1, 0.2), (0.8, 2.4))), 12)
    assert pace.best(1)[1]
    assert not pace.best(32)[1]
    assert not pace.pays(32)


def test_the_best_size_maximises_tokens_per_millisecond() -> None:
    pace = AdaptivePace(CHEAP, 12)
    pace._asked[:] = pace._offered[:] = [1000.0] * 12
    pace._passed[:] = [600.0] * 12
    rates = {}
    for size in range(1, 13):
        tokens = sum(0.6**slot for slot in range(size + 1))
        rates[size] = tokens / CHEAP.with_draft(1, size, size)
    assert pace.best(1)[0] == max(rates, key=lambda size: rates[size])


def test_where_only_some_sizes_run_a_draft_costs_what_the_padded_one_does() -> None:
    costs = Costs((3, 15), (1.0, 8.0), ((1.1, 2.5), (8.8, 20.0)), ((0.1, 0.1), (0.8, 0.8)))
    paces = AdaptivePace(costs, 15), AdaptivePace(costs, 15, [3, 7, 15])
    for pace in paces:
        pace.count(Tallies.of_rows(100, 15, [(2, 2)] * 100))  # two tokens, whatever is asked for: all pass
    assert paces[0].best(1)[0] > 3 == paces[1].best(1)[0]


def test_only_sizes_that_run_can_pay() -> None:
    costs = Costs((3, 15), (1.0, 8.0), ((1.1, 5.0), (8.8, 40.0)), ((0.9, 0.9), (7.2, 7.2)))
    assert costs.can_pay(1, range(1, 16)) and costs.can_pay(1, [3, 15])
    assert not costs.can_pay(1, [15])
    assert AdaptivePace(costs, 15).pays(1) and not AdaptivePace(costs, 15, [15]).pays(1)


def test_one_sentence_has_a_limited_weight_in_the_statistics() -> None:
    pace = AdaptivePace(CHEAP, 12)
    for rounds, passing in ((6, 1), (6, 1), (6, 1), (80, 0)):
        pace.admitted()
        for _ in range(rounds):
            _, size = pace.next(1)
            pace.count(Tallies.of_rows(1, size, [(size, passing)]))
    assert not pace.best(1)[1]
    pace.admitted()
    assert pace.best(1)[1]


def test_tallies_count_the_slots_that_rows_reached() -> None:
    # Rows with all of 4 tokens accepted, 1 of 3, 2 of 2, none of none, and more than the size.
    tallies = Tallies.of_rows(1, 4, [(4, 4), (3, 1), (2, 2), (0, 0), (6, 5)])
    assert (tallies.rows, tallies.asked, tallies.offered, tallies.passed) == (5, [5, 4, 3, 2], [4, 4, 2, 2], [4, 3, 2, 2])
