"""Drafting without training: Jacobi iteration, lookup, chains, and greedy decoding while nothing of it pays."""

from collections.abc import Callable, Sequence

import pytest
import torch

from specdec_cli.decoding.accept import Exact, FixedPoint, Rule
from specdec_cli.decoding.costs import Costs
from specdec_cli.decoding.drafters import Drafter
from specdec_cli.decoding.drafters.chain import SHORTEST, Chain
from specdec_cli.decoding.drafters.continuations import Continuations
from specdec_cli.decoding.drafters.jacobi import Jacobi
from specdec_cli.decoding.drafters.lookup import Lookup
from specdec_cli.decoding.drafters.none import NoDrafter
from specdec_cli.decoding.drafters.pace import Pace
from specdec_cli.decoding.loop import Hypothesis, LoopOptions, Round, Sentence, decode
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.text.subwords import BOS, EOS, PADDING
from tests.fakes import VOCABULARY, FakeDrafter, TableVerifier, make_sentences, right, tiny_transformer, wrong

LONGEST = 30
EXACT = Exact()


def memory() -> Continuations:
    return Continuations(VOCABULARY, torch.device("cpu"))


def lookup(block_size: int = 5) -> Lookup:
    return Lookup(block_size, EOS, PADDING)


FREE = Costs((3, 9), (1.0, 1.0), ((1.0, 1.0), (1.0, 1.0)), ((0.0, 0.0), (0.0, 0.0)))
UNTRAINED: dict[str, Callable[[], Drafter]] = {
    "jacobi": lambda: Jacobi(0, 1.0, SHORTEST, PADDING, memory()),
    "gs-jacobi": lambda: Jacobi(3, 1.0, None, PADDING, memory()),
    "hybrid-jacobi": lambda: Jacobi(5, 0.5, 0, PADDING, None),
    "lookup": lookup,
    "chain": lambda: Chain([lookup(), Jacobi(3, 1.0, None, PADDING, memory())], 9),
    "paced": lambda: Pace(Chain([lookup(), Jacobi(3, 1.0, None, PADDING, None)], 9), FREE, 9),
}
"""Each kind of drafter, made anew."""


def run(
    verifier: Verifier, drafter: Drafter, sentences: Sequence[Sentence], batch_size: int = 1, rule: Rule | None = None
) -> list[Hypothesis]:
    found = decode(verifier, drafter, sentences, LoopOptions(rule or Exact(), batch_size, LONGEST))
    return sorted(found, key=lambda hypothesis: hypothesis.number)


def ids_of(found: Sequence[Hypothesis]) -> list[list[int]]:
    return [hypothesis.ids for hypothesis in found]


@pytest.mark.parametrize("batch_size", [1, 5])
@pytest.mark.parametrize("name", UNTRAINED)
def test_output_is_that_of_greedy(name: str, batch_size: int) -> None:
    verifier, sentences = Verifier(tiny_transformer()), make_sentences(12, 32)
    greedy = run(verifier, NoDrafter(), sentences)
    drafter = UNTRAINED[name]()
    for _ in range(2):  # the second time with all that was remembered
        found = run(verifier, drafter, sentences, batch_size)
        assert ids_of(found) == ids_of(greedy)
        assert all(h.rounds <= len(h.ids) for h in found)


@pytest.mark.parametrize("batch_size", [1, 5])
@pytest.mark.parametrize(("block_size", "beyond"), [(0, 0), (1, None), (3, None), (5, 0)])
def test_a_fixed_point_is_greedys_output_too(block_size: int, beyond: int | None, batch_size: int) -> None:
    verifier, sentences = Verifier(tiny_transformer()), make_sentences(12, 32)
    found = run(verifier, Jacobi(block_size, 0.7, beyond, PADDING, None), sentences, batch_size, FixedPoint())
    assert ids_of(found) == ids_of(run(verifier, NoDrafter(), sentences))


def published_rounds(verifier: Verifier, sentence: Sentence, block_size: int) -> int:
    """Rounds of the paper's Algorithm 2 with its stopping condition, as plainly as it can be said."""
    model, output, rounds = verifier.model, list[int](), 0
    while EOS not in output and len(output) < LONGEST:
        size = min(block_size, LONGEST - len(output))
        block, predicted = list[int](), [PADDING] * size
        while block != predicted:
            block, rounds = predicted, rounds + 1
            with torch.inference_mode():
                logits = model(torch.tensor([sentence.source]), torch.tensor([[BOS, *output, *block]]))
            predicted = logits[0, len(output) : len(output) + size].argmax(-1).tolist()
        output += block
    return rounds


@pytest.mark.parametrize("block_size", [1, 3, 6])
def test_rounds_to_fixed_points_are_the_papers(block_size: int) -> None:
    verifier, sentences = Verifier(tiny_transformer()), make_sentences(8, 16)
    found = run(verifier, Jacobi(block_size, 1.0, None, PADDING, None), sentences, 3, FixedPoint())
    assert [h.rounds for h in found] == [published_rounds(verifier, sentence, block_size) for sentence in sentences]


def test_taking_what_is_right_saves_rounds() -> None:
    verifier, sentences = Verifier(tiny_transformer()), make_sentences(12, 32)
    published, ours = (
        sum(h.rounds for h in run(verifier, Jacobi(3, 1.0, None, PADDING, kept), sentences, rule=rule))
        for kept, rule in ((None, FixedPoint()), (memory(), EXACT))
    )
    assert ours < published


def drafts(drafter: Drafter, source: list[int], target: list[int]) -> list[list[int]]:
    """What `drafter` proposes, round by round, while the verifier says `target`, whatever the draft; both without EOS."""
    table = torch.zeros(1, len(target) + 1, VOCABULARY)
    for place, token in enumerate([*target, EOS]):
        table[0, place, token] = 1.0
    seen: list[list[int]] = []

    def look(round_: Round) -> None:
        seen.append(round_.draft.ids[0, : int(round_.draft.counts[0])].tolist())

    sentence = Sentence(0, [*source, EOS])
    (found,) = decode(TableVerifier(table), drafter, [sentence], LoopOptions(EXACT), look)
    assert found.ids == [*target, EOS]
    return seen


def test_predictions_beyond_the_bifurcation_are_the_next_draft() -> None:
    # The table's predictions do not depend on the draft: after the first round they are right.
    assert drafts(Jacobi(3, 1.0, None, PADDING, memory()), [7], [10, 11, 12, 13, 14]) == [[PADDING] * 3, [11, 12, 13], [PADDING] * 3]


def test_beyond_the_expected_end_tokens_come_one_by_one() -> None:
    # Expected are two tokens, for the source has one besides EOS.
    assert drafts(Jacobi(2, 1.0, 0, PADDING, memory()), [7], [10, 11, 12, 13]) == [[PADDING] * 2, [11, 12], []]


def test_the_whole_sentence_is_drafted_up_to_its_expected_end() -> None:
    lengths = [len(draft) for draft in drafts(Jacobi(0, 2.0, 0, PADDING, memory()), [7, 8], [10, 11, 12, 13, 14, 15, 16, 17])]
    assert lengths == [6, 5, 0, 0]


def test_what_followed_earlier_is_drafted_again() -> None:
    drafter = Jacobi(3, 1.0, None, PADDING, memory())
    target = [10, 11, 12, 13, 14]
    first, second = drafts(drafter, [7], target), drafts(drafter, [8], target)
    assert first[0] == [PADDING] * 3
    assert second == [[10, 11, 12], [14, EOS, PADDING]]


def test_two_tokens_tell_more_than_one() -> None:
    drafter = Jacobi(2, 1.0, None, PADDING, memory())
    drafts(drafter, [7], [10, 20, 30])
    drafts(drafter, [7], [11, 20, 31])
    assert drafts(drafter, [7], [10, 20, 30])[1] == [20, 30]
    assert drafts(drafter, [7], [11, 20, 31])[1] == [20, 31]
    assert drafts(drafter, [7], [12, 20, 33])[1] == [20, 31]  # after 20 alone, what came last


def test_lookup_goes_on_as_the_source_did() -> None:
    # Nothing is known of 30; after 8 the source has 9, 10, 11.
    assert drafts(lookup(2), [7, 8, 9, 10, 11], [30, 8, 9, 10, 11]) == [[], [], [9, 10], []]


def test_lookup_goes_on_as_the_output_did() -> None:
    assert drafts(lookup(2), [7], [30, 31, 32, 30, 31, 32])[4:] == [[31, 32]]


def test_lookup_takes_the_longest_suffix_and_then_the_last_place() -> None:
    source = [20, 8, 21, 20, 30, 8, 22, 8, 23]
    assert drafts(lookup(1), source, [20, 8, 21])[1:3] == [[30], [21]]  # "20 8" goes before the last "8"
    assert drafts(lookup(1), source, [31, 8, 23])[2] == [23]


def test_a_chain_takes_the_first_that_has_a_draft() -> None:
    chain = Chain([lookup(3), Jacobi(3, 1.0, None, PADDING, None)], 3)  # predicts two tokens after the first
    assert drafts(chain, [7, 8, 9, 10], [30, 8, 9, 10])[:2] == [[PADDING] * 3, [8, 9, PADDING]]
    assert drafts(Chain([lookup(3)], 3), [7, 8, 9], [30, 8, 9])[:2] == [[], []]


def test_a_chain_reaches_further_while_all_is_accepted() -> None:
    target = [7 + place % 30 for place in range(40)]
    fake = FakeDrafter({0: target}, 12, right)
    assert [len(draft) for draft in drafts(Chain([fake], 10), [7], target)][:4] == [3, 7, 10, 10]
    fake = FakeDrafter({0: target}, 12, wrong)
    assert {len(draft) for draft in drafts(Chain([fake], 10), [7], target)} == {3}
