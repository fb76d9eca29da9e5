"""Alignment of spans with tags by the scores of an engine, for which a fake one with a dictionary stands in."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf
from typing import Any, cast

import pytest

from specdec_cli.decoding.options import Decoding
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.model.order import Order
from specdec_cli.pipeline.tag_placing import Tagged, TagPlacer
from specdec_cli.text.tags.markup import InlineTags, TagSpan, VoidSpan

MEANINGS = {"Bitte": "please", "die": "the", "T\u00fcr": "door", "schlie\u00dfen": "close"}
WORDS = ["<eos>", *MEANINGS, *MEANINGS.values()]


class WordTokenizer:
    """Each word of WORDS is a token."""

    def encode(self, text: str) -> list[int]:
        return [WORDS.index(word) for word in text.split()]

    def encode_targets(self, texts: Sequence[str]) -> list[list[int]]:
        return [self.encode(text) for text in texts]

    def decode(self, ids: Sequence[int]) -> str:
        return " ".join(WORDS[token] for token in ids if token)

    def ends(self, ids: Sequence[int]) -> list[int]:
        return [len(self.decode(ids[: number + 1])) for number in range(len(ids))]

    def add_special_tokens(self, ids: Sequence[int]) -> list[int]:
        return [*ids, 0]

    def add_target_tokens(self, ids: Sequence[int], eos: int) -> list[int]:
        return [*ids, eos]

    def frames_source(self, eos: int) -> bool:
        return eos != 0


class DictionaryEngine:
    """Scores a word with -1 if the source has its meaning, else with -9."""

    eos, longest_source = 0, 20

    def __init__(self, order: Order = "left-to-right") -> None:
        self.decoding, self.asked = Decoding(order=order), 0

    def decode(self, sentences: Sequence[Sentence]) -> Iterator[Hypothesis]:
        for each in reversed(sentences):
            self.asked += 1
            assert each.prefix == len(each.draft) - 1
            there = {WORDS[token] for token in each.source}
            ids = list(each.draft[: each.prefix])
            scores = tuple(-1.0 if MEANINGS.get(WORDS[token]) in there else -9.0 for token in ids)
            yield Hypothesis(each.number, ids, 1, sum(scores), (), scores)


def placer(engine: DictionaryEngine) -> TagPlacer:
    return TagPlacer(cast("Any", engine), cast("Any", WordTokenizer()))


SOURCE, OUTPUT = "please close the door", "Bitte die T\u00fcr schlie\u00dfen"


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (17, 21, "Bitte die <b>T\u00fcr</b> schlie\u00dfen"),
        (13, 21, "Bitte <b>die T\u00fcr</b> schlie\u00dfen"),
        (7, 12, "Bitte die T\u00fcr <b>schlie\u00dfen</b>"),
        (0, 21, "<b>Bitte die T\u00fcr schlie\u00dfen</b>"),
    ],
)
def test_words_that_become_less_likely_have_the_tags(start: int, end: int, expected: str) -> None:
    assert placer(DictionaryEngine()).place([Tagged(SOURCE, OUTPUT, InlineTags((TagSpan(start, end, "<b>", "</b>"),)))]) == [expected]


def test_tokens_that_a_source_excludes_do_not_decide_alone() -> None:
    class ExcludingEngine(DictionaryEngine):
        def decode(self, sentences: Sequence[Sentence]) -> Iterator[Hypothesis]:
            for each in super().decode(sentences):
                scores = tuple(-inf if score < -1 else score for score in each.log_probabilities)
                yield replace(each, log_probabilities=scores)

    tags = InlineTags((TagSpan(13, 21, "<b>", "</b>"),))
    assert placer(ExcludingEngine()).place([Tagged(SOURCE, OUTPUT, tags)]) == ["Bitte <b>die T\u00fcr</b> schlie\u00dfen"]


def test_no_break_spaces_are_scored_as_plain_ones() -> None:
    tags, output = InlineTags((TagSpan(13, 21, "<b>", "</b>"),)), OUTPUT.replace(" ", "\u00a0")
    assert placer(DictionaryEngine()).place([Tagged(SOURCE.replace(" ", "\u00a0"), output, tags)]) == [
        "Bitte\u00a0<b>die\u00a0T\u00fcr</b>\u00a0schlie\u00dfen"
    ]


def test_sentences_are_scored_once_for_each_span_and_once_as_a_whole() -> None:
    engine = DictionaryEngine()
    tags = InlineTags((TagSpan(7, 12, "<b>", "</b>"), TagSpan(17, 21, "<i>", "</i>")))
    text = Tagged(SOURCE, OUTPUT, tags)
    assert placer(engine).place([text, text]) == ["Bitte die <i>T\u00fcr</i> <b>schlie\u00dfen</b>"] * 2
    assert engine.asked == 3


@pytest.mark.parametrize("order", ["bidirectional", "masked"])
def test_models_of_other_orders_place_tags_in_proportion(order: Order) -> None:
    engine = DictionaryEngine(order)
    tags = InlineTags((TagSpan(17, 21, "<b>", "</b>"),))
    assert placer(engine).place([Tagged(SOURCE, OUTPUT, tags)]) == ["Bitte die T\u00fcr <b>schlie\u00dfen</b>"]
    assert engine.asked == 0


def test_an_item_is_between_the_words_of_the_parts_around_it() -> None:
    engine = DictionaryEngine()
    tags = InlineTags((), (VoidSpan(12, 13, " <br> ", "gap"),))  # please close <br> the door
    assert placer(engine).place([Tagged(SOURCE, "Bitte schlie\u00dfen die T\u00fcr", tags)]) == ["Bitte schlie\u00dfen <br> die T\u00fcr"]
    assert engine.asked == 3
