"""The native engine reports each round: what was drafted, and what was taken."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from specdec_cli.decoding.options import DecodingOptions, resolve
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.engines.native import NativeEngine
from specdec_cli.model.bundle_info import describe_bundle
from specdec_cli.native.model import DecodedRound
from specdec_cli.opening.models import SHIPPED

LINES = (
    "The old house is red.",
    "She don't like coffee, and he have no tea.",
    "There is many reasons to be happy.",
    "We went to the river.",
    "I has a book.",
    "They are here.",
    "He go home.",
    "It is late.",
)


@pytest.mark.parametrize(
    ("bundle", "request_"),
    [
        ("en-gec", DecodingOptions(decoding="input-guided")),
        ("en-gec", DecodingOptions(decoding="input-guided", batch_size=8)),
        ("en-gec", DecodingOptions(decoding="greedy")),
        ("en-de", DecodingOptions(decoding="specdec", block_size=3)),
        ("en-de", DecodingOptions(decoding="specdec++", block_size=3, batch_size=8)),
    ],
)
@pytest.mark.parametrize("threads", [1, 2])
def test_rounds_add_up_to_the_sentences(bundle: str, request_: DecodingOptions, threads: int) -> None:
    described = describe_bundle(Path(SHIPPED / bundle))
    engine = NativeEngine(described, resolve(request_, described), threads)
    sources = [described.tokenizer.add_special_tokens(described.tokenizer.encode(line)) for line in LINES]
    sentences = [Sentence(number, source) for number, source in enumerate(sources)]
    plain = {each.number: (each.ids, each.rounds) for each in engine.decode(sentences)}
    rounds: dict[int, list[DecodedRound]] = {number: [] for number in plain}
    engine.onlooker = lambda each: rounds[each.number].append(each)
    assert {each.number: (each.ids, each.rounds) for each in engine.decode(sentences)} == plain
    assert {number: (joined(own), len(own)) for number, own in rounds.items()} == plain
    for each in (each for own in rounds.values() for each in own):
        assert each.taken[:-1] == each.drafted[: len(each.taken) - 1]
        assert len(each.taken) <= len(each.drafted) + 1
        assert len(each.predicted) == len(each.drafted) + 1
        assert each.taken == each.predicted[: len(each.taken)]
    assert all([each.ended for each in own] == [False] * (len(own) - 1) + [True] for own in rounds.values())
    assert any(each.drafted for own in rounds.values() for each in own) == (request_.decoding != "greedy")


def joined(rounds: Sequence[DecodedRound]) -> list[int]:
    return [token for each in rounds for token in each.taken]
