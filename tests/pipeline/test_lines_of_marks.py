"""Lines of many marks, whose preparation takes little processor time."""

import pytest

from specdec_cli.pipeline.corrector import LineCorrector
from specdec_cli.pipeline.translator import LineTranslator
from specdec_cli.server.texts import checked_lines
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


MARKS: dict[str, str | list[str]] = {
    "marks": ".,;:!?\u2026-\u2013'`~^*+=/\\|&%$#@",
    "quotes": "\"'\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb\u2039\u203a",
    "brackets": "()[]{}<>",
    "digits": "019\u00b2\u0661",
    "emoji": "\U0001f600\u2764\u2192\u00a9",
    "joined emoji": ["\U0001f468\u200d\U0001f469", "\u2764\ufe0f", "1\ufe0f\u20e3", "\U0001f44d\U0001f3fd"],
    "flags": ["\U0001f1e9\U0001f1ea", "\U0001f3f4\U000e0067\U000e007f"],
    "underscores": ["_", "a_", "_ "],
    "letters": ["a", "A", "\u00e4", "Aa", "a.", "A.", "a:", "a::", "\u4e00", "a\u0301"],
    "spaces": [" ", "\t", "\u00a0", "\u3000"],
    "pairs": [
        "<b>",
        "</b>",
        "&lt;",
        "&#65;",
        "%s",
        "{a}",
        "1.",
        "1,5 ",
        "5'3\" ",
        "on May 1 ",
        "File | ",
        "Hello. ",
        "1,5 Mio. Euro ",
        "\\n",
    ],
}
"""What lines of 400 characters are repetitions of."""


def lines_of(part: str, length: int = 400) -> list[str]:
    """Lines of repetitions: alone, and behind words and before others."""
    whole = part * (length // len(part))
    return [whole, f"Name {whole}", f"{whole} x", f"Hello there.{whole}! I am here."]


@pytest.mark.parametrize("kind", MARKS)
def test_400_characters_of_a_kind_are_translated_at_once(translator: LineTranslator, kind: str) -> None:
    for part in MARKS[kind]:
        for line in lines_of(part):
            with at_most(2):
                assert len(list(translator.translate([line]))) == 1


@pytest.mark.parametrize("kind", MARKS)
def test_400_characters_of_a_kind_are_corrected_at_once(corrector: LineCorrector, kind: str) -> None:
    for part in MARKS[kind]:
        for line in lines_of(part):
            with at_most(2):
                assert len(list(corrector.correct([line]))) == 1


@pytest.mark.parametrize("kind", MARKS)
def test_400_characters_of_a_kind_are_cut_by_the_server_at_once(kind: str) -> None:
    for part in MARKS[kind]:
        with at_most(2):
            assert list(checked_lines("\n\n".join(lines_of(part)))) or not part.strip()


@pytest.mark.long
@pytest.mark.parametrize("part", ["a:", "a::", "\u201ca", "on May 1 ", "5'3\" ", "File | ", "a_", "1"])
def test_8000_characters_are_prepared_in_seconds(translator: LineTranslator, corrector: LineCorrector, part: str) -> None:
    line = lines_of(part, 8000)[0]
    with at_most(30):
        assert len(list(corrector.correct([line]))) == 1
    with at_most(30):
        assert len(list(translator.translate([line]))) == 1


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
