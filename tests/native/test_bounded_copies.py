"""Input-guided decoding of `auto` in the native engine: bounded first copies, which grow while they are accepted as a whole."""

from pathlib import Path

import pytest

from specdec_cli.decoding.options import DecodingOptions, resolve
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.engines.native import NativeEngine
from specdec_cli.engines.reference import Engine
from specdec_cli.model.bundle import Bundle
from specdec_cli.model.bundle_info import describe_bundle
from specdec_cli.native.library import NativeError
from specdec_cli.native.model import FIRST_COPY, NativeModel
from specdec_cli.opening.machine import Machine
from specdec_cli.opening.models import SHIPPED, open_bundle
from tests.native.decoding_requests import Request, decode

LINES = (
    "The old house beside the river was sold last year to a family with three small children and two dogs.",
    "She don't like coffee, and he have no tea, but they was happy to see us when we come to there house in the evening.",
    "He go to school.",
    "I has never see so much snows in the mountains, the road were closed and we must to wait for five hour in the car.",
    "After the meeting we walked to the station together, and she told me about the book that she wants to write.",
)


@pytest.mark.parametrize("batch_size", [1, 8])
def test_copies_grow_as_those_of_given_drafts(batch_size: int) -> None:
    bundle, described = open_bundle("en-gec", Machine("cpu", "int8", 1)), describe_bundle(SHIPPED / "en-gec")
    sources = [bundle.tokenizer.add_special_tokens(bundle.tokenizer.encode(line)) for line in LINES]
    asked = DecodingOptions(decoding="greedy", with_scores=True)
    reference = Engine(bundle, resolve(asked, bundle))
    plain = {each.number: each.ids for each in reference.decode([Sentence(number, source) for number, source in enumerate(sources)])}
    given = reference.decode([Sentence(number, source, source, FIRST_COPY) for number, source in enumerate(sources)])
    expected = {each.number: (each.ids, each.rounds, each.log_probabilities) for each in given}
    assert {number: ids for number, (ids, _, _) in expected.items()} == plain
    settings = resolve(DecodingOptions(batch_size=batch_size, with_scores=True), described)
    for threads in (1, 2):
        found = NativeEngine(described, settings, threads).decode([Sentence(number, source) for number, source in enumerate(sources)])
        assert {each.number: (each.ids, each.rounds, each.log_probabilities) for each in found} == expected


@pytest.mark.parametrize(("asked", "rounds"), [(DecodingOptions(), 2), (DecodingOptions(decoding="input-guided"), 1)])
def test_only_auto_bounds_the_first_copy(asked: DecodingOptions, rounds: int) -> None:
    described = describe_bundle(SHIPPED / "en-gec")
    source = described.tokenizer.add_special_tokens(described.tokenizer.encode(LINES[0]))
    assert FIRST_COPY < len(source) < 3 * FIRST_COPY
    (found,) = NativeEngine(described, resolve(asked, described), 1).decode([Sentence(0, source)])
    assert (found.ids, found.rounds) == (source, rounds)


@pytest.mark.parametrize("batch_size", [1, 8])
def test_bounded_copies_of_other_texts_grow_as_those_of_given_drafts(batch_size: int) -> None:
    bundle, described = open_bundle("en-gec", Machine("cpu", "int8", 1)), describe_bundle(SHIPPED / "en-gec")
    sources = [bundle.tokenizer.add_special_tokens(bundle.tokenizer.encode(line)) for line in LINES]
    texts = [bundle.tokenizer.add_special_tokens(bundle.tokenizer.encode(line.replace("has", "have"))) for line in LINES]
    reference = Engine(bundle, resolve(DecodingOptions(decoding="greedy", with_scores=True), bundle))
    given = reference.decode([Sentence(n, source, texts[n], FIRST_COPY) for n, source in enumerate(sources)])
    expected = {each.number: (each.ids, each.rounds, each.log_probabilities) for each in given}
    settings = resolve(DecodingOptions(batch_size=batch_size, with_scores=True), described)
    # Where a sentence has no text of its own to copy, its source is copied.
    sentences = [Sentence(n, source, copy=texts[n] if texts[n] != source else ()) for n, source in enumerate(sources)]
    assert {bool(sentence.copy) for sentence in sentences} == {True, False}
    for threads in (1, 2):
        found = list(NativeEngine(described, settings, threads).decode(sentences))
        assert {each.number: (each.ids, each.rounds, each.log_probabilities) for each in found} == expected
        assert {each.decoding for each in found} == {"input-guided"}


def test_texts_out_of_range_are_refused(pair: tuple[Bundle, Path]) -> None:
    bundle, path = pair
    model, word_starts = NativeModel(bundle.verifier.config, path), bytes(bundle.tokenizer.word_starts())
    for text, message in (([8, bundle.verifier.config.vocabulary_size], "vocabulary"), ([-1, 3], "vocabulary")):
        with pytest.raises(NativeError, match=message):
            list(decode(model, [[8, 3]], Request("input-guided", word_starts=word_starts, drafts=[text])))
