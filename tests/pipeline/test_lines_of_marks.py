"""Lines of many marks, whose preparation takes little processor time."""

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest

from specdec_cli.decoding.options import Decoding, DecodingOptions
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.engines.engine import SentenceDecoder
from specdec_cli.model.bundle_info import Described
from specdec_cli.opening.engines import open_engine
from specdec_cli.opening.machine import MachineOptions
from specdec_cli.opening.models import ModelChoice
from specdec_cli.pipeline.corrector import LineCorrector
from specdec_cli.pipeline.translator import LineTranslator
from specdec_cli.server.texts import checked_lines
from specdec_cli.text.segment.layout import split_marks
from specdec_cli.text.segment.sentences import split_sentences
from tests.tables import tables

CASES = tables(__file__)

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


class CopyingEngine:
    """An engine that decodes nothing: the hypothesis of a sentence is its source, or the part of a draft that is to begin the output."""

    def __init__(self, engine: SentenceDecoder) -> None:
        self._engine = engine
        self.sentences = 0

    @property
    def decoding(self) -> Decoding:
        """The decoding of the engine."""
        return self._engine.decoding

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def decode(self, sentences: Sequence[Sentence]) -> Iterator[Hypothesis]:
        """Yield a hypothesis for each sentence, in order."""
        for each in sentences:
            self.sentences += 1
            ids = [*(each.draft[: each.prefix] if each.prefix else each.source)]
            yield Hypothesis(each.number, ids, 1, -0.1 * len(ids), (), (-0.1,) * len(ids))


def copying(bundle: str, **options: Any) -> tuple[Described, CopyingEngine]:
    """A shipped bundle, and an engine that copies."""
    opened = open_engine(ModelChoice(bundle), MachineOptions(), DecodingOptions(**options))
    return opened.bundle, CopyingEngine(opened.engine)


@pytest.fixture(scope="module")
def translator() -> LineTranslator:
    bundle, engine = copying("en-de")
    return LineTranslator.of_bundle(engine, bundle)


@pytest.fixture(scope="module")
def corrector() -> LineCorrector:
    bundle, engine = copying("en-gec", with_scores=True, mode="balanced")
    return LineCorrector.of_bundle(engine, bundle)


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise AssertionError, in the main thread, as soon as the process has used `seconds` of processor time.

    `re` looks for signals while it searches, so that a pattern that would run for hours is ended too.
    """

    def end(_number: int, _frame: FrameType | None) -> None:
        raise AssertionError(f"more than {seconds:g} s of processor time")

    usual = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, usual)


@pytest.mark.parametrize("line", LINES)
def test_a_line_of_marks_is_translated_at_once(translator: LineTranslator, line: str) -> None:
    with at_most(1):
        assert next(translator.translate([line])).text


@pytest.mark.parametrize("line", LINES)
def test_a_line_of_marks_is_corrected_at_once(corrector: LineCorrector, line: str) -> None:
    with at_most(1):
        assert next(corrector.correct([line])).text == line


def lines_of(part: str, length: int = 400) -> list[str]:
    """Lines of repetitions: alone, and behind words and before others."""
    whole = part * (length // len(part))
    return [whole, f"Name {whole}", f"{whole} x", f"Hello there.{whole}! I am here."]


@pytest.mark.parametrize("kind", CASES.marks)
def test_400_characters_of_a_kind_are_translated_at_once(translator: LineTranslator, kind: str) -> None:
    for part in CASES.marks[kind]:
        for line in lines_of(part):
            with at_most(2):
                assert len(list(translator.translate([line]))) == 1


@pytest.mark.parametrize("kind", CASES.marks)
def test_400_characters_of_a_kind_are_corrected_at_once(corrector: LineCorrector, kind: str) -> None:
    for part in CASES.marks[kind]:
        for line in lines_of(part):
            with at_most(2):
                assert len(list(corrector.correct([line]))) == 1


@pytest.mark.parametrize("kind", CASES.marks)
def test_400_characters_of_a_kind_are_cut_by_the_server_at_once(kind: str) -> None:
    for part in CASES.marks[kind]:
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


@pytest.mark.parametrize(("line", "head"), CASES.keys_and_names_of_loggers_have_their_signs_between_parts)
def test_keys_and_names_of_loggers_have_their_signs_between_parts(line: str, head: str) -> None:
    assert split_marks(line).head == head
