"""Lines decoded with tidied copies: sentences come with the text that input-guided decoding copies."""

from collections.abc import Iterator, Sequence
from typing import cast

import pytest

from specdec_cli.decoding.options import Decoding, DecodingOptions, resolve
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.engines.engine import SentenceDecoder
from specdec_cli.engines.native import NativeEngine
from specdec_cli.model.bundle_info import describe_bundle
from specdec_cli.opening.models import SHIPPED
from specdec_cli.pipeline.lines import LineDecoder
from specdec_cli.text.tokenize.sentencepiece import EOS, Subwords

LINES = ["so he left , and we stayed .", "So he left.", "", "He goes home . We stay"]


class Recorder:
    """A fake engine. Its output for each sentence is the source, and it records the sentences that it gets."""

    longest_source, eos = 256, EOS

    def __init__(self, *, copies_tidied: bool) -> None:
        self.decoding = Decoding(method="input-guided", tidies_copies=copies_tidied)
        self.sentences: list[Sentence] = []

    def decode(self, sentences: Sequence[Sentence]) -> Iterator[Hypothesis]:
        """Yield hypotheses in order."""
        self.sentences += sentences
        for sentence in sentences:
            yield Hypothesis(sentence.number, list(sentence.source), 1, None)


@pytest.mark.parametrize("copies_tidied", [True, False])
def test_sentences_have_tidied_texts_where_these_differ(tokenizer: Subwords, copies_tidied: bool) -> None:
    engine = Recorder(copies_tidied=copies_tidied)
    list(LineDecoder(cast(SentenceDecoder, engine), tokenizer).decode(LINES))
    texts = [tokenizer.decode(sentence.source) for sentence in engine.sentences]
    assert texts == ["so he left , and we stayed .", "So he left.", "He goes home .", "We stay"]
    copied = [tokenizer.decode(sentence.copy) for sentence in engine.sentences]
    assert copied == (["So he left, and we stayed.", "", "He goes home.", "We stay."] if copies_tidied else [""] * 4)
    assert all(sentence.copy[-1] == EOS for sentence in engine.sentences if sentence.copy)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (DecodingOptions(), True),
        (DecodingOptions(decoding="input-guided", block_size="auto"), True),
        (DecodingOptions(decoding="input-guided"), False),
        (DecodingOptions(decoding="lookup", block_size="auto"), False),
        (DecodingOptions(block_size=4), False),
        (DecodingOptions(tolerance=1.0), False),  # the output depends on the draft
        (DecodingOptions(mode="thorough"), False),
    ],
)
def test_only_exact_copies_of_adaptive_length_are_tidied(asked: DecodingOptions, expected: bool) -> None:
    described = describe_bundle(SHIPPED / "en-gec")
    settings = resolve(asked, described)
    assert settings.tidies_copies is expected
    if expected:
        assert NativeEngine(described, settings, 1).decoding.tidies_copies


def test_tidied_copies_take_fewer_rounds_for_the_same_output() -> None:
    described = describe_bundle(SHIPPED / "en-gec")
    found = {}
    for decoding in ("auto", "greedy", "input-guided"):
        engine = NativeEngine(described, resolve(DecodingOptions(decoding=decoding), described), 1)
        line = "the old house beside the river was sold , and they moved to the city ."
        (decoded,) = LineDecoder(engine, described.tokenizer).decode([line])
        found[decoding] = decoded.parts[0].ids, decoded.rounds
    assert found["auto"][0] == found["greedy"][0] == found["input-guided"][0]
    assert found["auto"][1] < found["input-guided"][1] < found["greedy"][1]
