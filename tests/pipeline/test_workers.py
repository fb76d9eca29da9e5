"""Several worker threads give the output of one."""

from collections.abc import Iterator
from functools import partial
from itertools import product
from threading import get_ident

import pytest

from specdec_cli.decoding.options import DecodingOptions, resolve
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.model.bundle import Bundle, BundleInfo
from specdec_cli.pipeline.engine import Engine
from specdec_cli.pipeline.workers import Shared, in_threads, threads_of_torch
from tests.fakes import in_precision, make_sentences, tiny_drafter, tiny_heads, tiny_transformer


@pytest.fixture
def two_threads() -> Iterator[None]:
    with threads_of_torch(2):
        yield


def test_each_item_goes_to_one_thread() -> None:
    shared, seen = Shared(range(500)), dict[int, int]()

    def job() -> Iterator[int]:
        for item in shared:
            seen[item] = get_ident()
            yield item

    assert sorted(in_threads([job, job, job])) == list(range(500))
    assert len(seen) == 500


def test_an_error_in_one_thread_stops_all() -> None:
    def endless() -> Iterator[int]:
        while True:
            yield 1

    def failing() -> Iterator[int]:
        yield 2
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        list(in_threads([endless, failing]))


def test_threads_stop_when_results_are_not_read() -> None:
    results = in_threads([partial(iter, lambda: 1, 0)] * 2)
    assert next(iter(results)) == 1
    results.close()  # type: ignore[attr-defined]


@pytest.mark.long
@pytest.mark.usefixtures("two_threads")
@pytest.mark.parametrize(
    ("precision", "decoding"),
    [*product(["int8", "float32"], ["greedy", "specdec", "blockwise", "lookup", "auto", "beam"])],
)
def test_the_output_equals_that_of_one_worker(decoding: str, precision: str, bundle: Bundle) -> None:
    verifier = tiny_transformer(vocabulary_size=len(bundle.tokenizer))
    drafter = tiny_heads(verifier) if decoding == "blockwise" else tiny_drafter(verifier)
    in_precision(verifier, precision, None if precision == "float32" else drafter)
    made = Bundle(BundleInfo(decoding="specdec"), bundle.tokenizer, verifier, drafter)
    sentences = [Sentence(number, sentence.source) for number, sentence in enumerate([*make_sentences(20, 16), *make_sentences(20, 48)])]
    outputs = []
    for rows in (1, 6):
        engine = Engine(made, resolve(DecodingOptions(decoding=decoding, batch_size=rows, max_length=12), made))
        outputs.append({h.number: h.ids for h in engine.decode(sentences)})
        assert engine.workers == (2 if rows == 6 and precision != "float32" and decoding != "beam" else 1)
    assert outputs[0] == outputs[1]
    assert len(outputs[0]) == len(sentences)


def test_memory_limits_the_rows_of_a_batch(bundle: Bundle) -> None:
    wide = Engine(bundle, resolve(DecodingOptions(decoding="greedy", batch_size=64), bundle))
    row = wide.verifier.row_bytes(32)
    narrow = Engine(bundle, resolve(DecodingOptions(decoding="greedy", batch_size=64, memory=5 * row), bundle))
    workers = wide.workers
    assert wide._rows(32, 1000) == 64
    assert narrow._rows(32, 1000) == 5 // workers
    assert narrow._rows(512, 1000) == 1
    assert wide._rows(32, 3) == -(-3 // workers)
