"""The n-gram memory in the native engine: outputs and rounds of the reference engine."""

from collections.abc import Callable
from pathlib import Path

import pytest

from specdec_cli.decoding.options import DecodingOptions, resolve
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.engines.native import NativeEngine
from specdec_cli.engines.reference import Engine
from specdec_cli.model.bundle import Bundle
from specdec_cli.model.bundle_info import describe_bundle
from specdec_cli.native.library import NativeError
from specdec_cli.native.model import NativeModel, NgramMemory
from specdec_cli.opening.machine import Machine
from specdec_cli.opening.models import SHIPPED, open_bundle
from tests.native.comparison import native, reference, sources_of
from tests.native.decoding_requests import Request, decode
from tests.native.expected import Expectations

pytestmark = pytest.mark.usefixtures("sharing")
LINES = ["Tom reads a book.", "Mary reads a long book about old trees and the people who live there.", "Tom has read a book."] * 4


@pytest.mark.parametrize("block_size", [1, 3, 7])
def test_random_models_have_the_rounds_of_the_reference(pair: tuple[Bundle, Path], block_size: int, expected: Expectations) -> None:
    bundle, path = pair
    sources = sources_of(len(bundle.tokenizer), 9, 15)  # of one padded length: the order of the queue is that of the reference
    model, size = NativeModel(bundle.verifier.config, path), bundle.verifier.config.vocabulary_size
    asked = DecodingOptions(decoding="ngram-memory", block_size=block_size, max_length=20, with_scores=True)
    outputs = expected(reference, bundle, sources, asked)
    for threads in (1, 3):
        memory = NgramMemory(size, 1)
        request = Request("ngram-memory", block_size=block_size, threads=threads, max_length=20, with_scores=True, memory=memory.address)
        assert native(model, sources, request) == outputs
    assert sum(each.rounds for each in outputs.values()) < sum(len(each.ids) for each in outputs.values())


def test_the_memory_lasts_from_call_to_call_in_the_order_of_the_reference() -> None:
    bundle, described = open_bundle("en-de", Machine("cpu", "int8", 1)), describe_bundle(SHIPPED / "en-de")
    sources = [described.tokenizer.add_special_tokens(described.tokenizer.encode(line)) for line in LINES]
    asked = DecodingOptions(decoding="ngram-memory", block_size=4)
    reference, ours = Engine(bundle, resolve(asked, bundle)), NativeEngine(described, resolve(asked, described), 2)
    for first in (0, 5):
        sentences = [Sentence(number, source) for number, source in enumerate(sources[first : first + 7])]
        expected, found = ({each.number: (each.ids, each.rounds, each.decoding) for each in e.decode(sentences)} for e in (reference, ours))
        assert found == expected


def test_batches_have_the_output_of_greedy_decoding(rounds_of: Callable[[int, str], tuple[list[list[int]], int]]) -> None:
    greedy, steps = rounds_of(1, "greedy")
    for batch_size in (1, 5):
        ids, rounds = rounds_of(batch_size, "ngram-memory")
        assert ids == greedy
        assert rounds < steps


@pytest.fixture
def rounds_of() -> Callable[[int, str], tuple[list[list[int]], int]]:
    """Decodes LINES with a batch size and a decoding; the ids of each line, and the number of all rounds."""
    described = describe_bundle(SHIPPED / "en-de")
    sources = [described.tokenizer.add_special_tokens(described.tokenizer.encode(line)) for line in LINES]

    def run(batch_size: int, decoding: str) -> tuple[list[list[int]], int]:
        engine = NativeEngine(described, resolve(DecodingOptions(decoding=decoding, batch_size=batch_size), described), 2)
        found = {each.number: each for each in engine.decode([Sentence(number, source) for number, source in enumerate(sources)])}
        return [found[number].ids for number in range(len(sources))], sum(each.rounds for each in found.values())

    return run


def test_memories_of_another_size_are_refused(pair: tuple[Bundle, Path]) -> None:
    bundle, path = pair
    model, size = NativeModel(bundle.verifier.config, path), bundle.verifier.config.vocabulary_size
    few, small = NgramMemory(size, 1), NgramMemory(size - 1, 1)
    for request in (
        Request("ngram-memory"),
        Request("ngram-memory", memory=small.address),
        Request("ngram-memory", memory=few.address, batch=2, threads=2),
        Request("greedy", memory=few.address),
    ):
        with pytest.raises(NativeError, match="option"):
            list(decode(model, [[8, 3]], request))
    with pytest.raises(NativeError, match="option"):
        NgramMemory(0, 1)
