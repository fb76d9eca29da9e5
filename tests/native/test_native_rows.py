"""The settings of a row of bench that the native engine decodes, and how many sentences it decodes together."""

from collections.abc import Iterator, Sequence

import pytest

from specdec_cli.benchmark.rows import Row
from specdec_cli.benchmark.runs import describe_settings, options_of
from specdec_cli.decoding.options import Decoding, resolve
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.engines.native import NativeEngine
from specdec_cli.engines.native_decoding import FEWEST_ROWS
from specdec_cli.model.bundle_info import describe_bundle
from specdec_cli.native.model import NativeModel
from specdec_cli.opening.models import SHIPPED


def test_lookup_reports_the_block_size_that_it_has_by_default() -> None:
    bundle = describe_bundle(SHIPPED / "en-de")
    for row, expected in ((Row("lookup"), 15), (Row("lookup").changed(block_size=4), 4), (Row("greedy"), None)):
        settings = resolve(options_of(row, bundle.info), bundle)
        described = describe_settings(row, settings, NativeEngine(bundle, settings, 1), bundle.info)
        assert described.get("block_size") == expected


@pytest.mark.parametrize(
    ("row", "together"), [(Row("greedy"), FEWEST_ROWS), (Row("beam").changed(beam_size=2), 3), (Row("beam").changed(beam_size=5), 2)]
)
def test_a_thread_decodes_few_sentences_together(row: Row, together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = describe_bundle(SHIPPED / "en-gec")
    settings = resolve(options_of(row.changed(batch_size=64), bundle.info), bundle)
    engine = NativeEngine(bundle, settings, 1)
    asked: list[Decoding] = []

    def decode(_: NativeModel, sentences: Sequence[Sentence], decoding: Decoding, *__: object) -> Iterator[Hypothesis]:
        asked.append(decoding)
        return (Hypothesis(sentence.number, list(sentence.source), 1, None) for sentence in sentences)

    monkeypatch.setattr(NativeModel, "decode", decode)
    for count in (1, together + 1):
        list(engine.decode([Sentence(number, [5, 3]) for number in range(count)]))
    assert [decoding.batch_size for decoding in asked] == [1, together]
