"""Lines of many marks, whose preparation takes little processor time."""

import pytest

from specdec_cli.pipeline.corrector import LineCorrector
from specdec_cli.pipeline.translator import LineTranslator
from specdec_cli.text.segment.layout import split_marks
from specdec_cli.text.segment.sentences import split_sentences
from tests.copying_engine import copying
from tests.processor_time import at_most

FORM = "Name" + "_" * 60
PICTURES = "Wow " + "\U0001f600" * 40 + "! Hello there. I am here."
LINES = (
    FORM,
    PICTURES,
    "a_" * 100 + "x",
    "Wow " + "\U0001f1e9\U0001f1ea" * 20 + "! Yes.",
    "2026-01-01 12:00:00 a" + "$" * 60,
    "INFO a" + "$" * 60,
)


@pytest.fixture(scope="module")
def translator() -> LineTranslator:
    bundle, engine = copying("en-de")
    return LineTranslator.of_bundle(engine, bundle)


@pytest.fixture(scope="module")
def corrector() -> LineCorrector:
    bundle, engine = copying("en-gec", with_scores=True, mode="balanced")
    return LineCorrector.of_bundle(engine, bundle)


@pytest.mark.parametrize("line", LINES)
def test_a_line_of_marks_is_translated_at_once(translator: LineTranslator, line: str) -> None:
    with at_most(1):
        assert next(translator.translate([line])).text


@pytest.mark.parametrize("line", LINES)
def test_a_line_of_marks_is_corrected_at_once(corrector: LineCorrector, line: str) -> None:
    with at_most(1):
        assert next(corrector.correct([line])).text == line


def test_emoji_before_the_end_of_a_sentence_belong_to_it() -> None:
    with at_most(1):
        texts = split_sentences(PICTURES).texts
    assert texts == (PICTURES[: -len(" Hello there. I am here.")], "Hello there.", "I am here.")


@pytest.mark.parametrize(
    ("line", "head"),
    [
        ("a_b: It is here.", "a_b: "),
        ("a__: It is here.", "a__: "),
        ("a.b_.c = It is here.", "a.b_.c = "),
        ("the_Key=It is here.", "the_Key="),
        ("isOpen = It is here.", "isOpen = "),
        ("a_: It is here.", ""),
        ("a.: It is here.", ""),
        ("a..b: It is here.", ""),
        ("a_b.: It is here.", ""),
        ("Name____", ""),
        ("INFO a.b$c-d  It is here.", "INFO a.b$c-d  "),
        ("INFO a$-b It is here.", "INFO a$-b "),
        ("INFO a$ It is here.", ""),
        ("INFO a-b It is here.", ""),
        ("INFO a.b. It is here.", ""),
        ("INFO:$a.b$: it is here.", "INFO:$a.b$: "),
    ],
)
def test_keys_and_names_of_loggers_have_their_signs_between_parts(line: str, head: str) -> None:
    assert split_marks(line).head == head
