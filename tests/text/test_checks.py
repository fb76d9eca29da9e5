"""Checks of outputs."""

import pytest

from specdec_cli.text.checks import EMPTY, NUMBERS, REPETITION, output_warnings


@pytest.mark.parametrize(
    ("source", "output", "found"),
    [
        ("He is here.", "Er ist hier.", ()),
        ("", "", ()),
        ("He is here.", " ", (EMPTY,)),
        ("It is late.", "Es ist Zeit Zeit Zeit Zeit.", (REPETITION,)),
        ("The time", "--Bit-Bit-Bit-Bit", (REPETITION,)),
        ("Mrs. Ogawa", "Frau Ogawawawawawawawa", (REPETITION,)),
        ("It is once a week.", "Einmal in der Woche in der Woche in der Woche.", (REPETITION,)),
        ("Enter &lt;x&gt;", "Gib &lt;x&gt;;;; ein", (REPETITION,)),
        ('Click to "save" it.', "Klicken Sie zu save zu save zu sav zu save zu", (REPETITION,)),
        ("the man and the dog and the cat", "der Mann und der Hund und der Hund der Frau", ()),
        ("Wait ; ; ; now", "Warte ;;; jetzt", ()),
        ("No, no, no, no!", "Nein, nein, nein, nein!", ()),
        ("very very very very good", "sehr sehr sehr sehr gut", ()),
        ("haha hahahahahahaha", f"Haha {'ha' * 60}", (REPETITION,)),
        ("haha hahahahahahaha", "Haha hahahahahahahaha", ()),
        ("in 2023 we", "wir in 2423", (NUMBERS,)),
        ("24 December 2023", "2423", (NUMBERS,)),
        ("It costs $1,299.99.", "Es kostet 1.299,99 $.", ()),
        ("It costs $1,299.99.", "Es kostet 1.299 $.", (NUMBERS,)),
        ("five men, 2 dogs", "f\u00fcnf M\u00e4nner, zwei Hunde", ()),
        ("the 5th of May", "der 5. Mai", ()),
        ("at 3 pm", "um 15 Uhr", ()),
        ("at 8:30 p.m.", "um 20.30 Uhr", ()),
        ("at 9am", "um 21 Uhr", (NUMBERS,)),
        ("at 7:00", "um 7 Uhr", ()),
        ("on 12/31/2023", "am 31.12.2023", ()),
        ("1" * 5000, "2", (NUMBERS,)),
    ],
)
def test_problems_of_outputs_are_found(source: str, output: str, found: tuple[str, ...]) -> None:
    assert output_warnings(source, output) == found


def test_copied_text_is_not_reported() -> None:
    assert output_warnings("la la la la la", "la la la la la") == ()


@pytest.mark.parametrize(
    ("source", "output", "found"),
    [
        ("Um 17:30 Uhr.", "At 5:30 p.m.", ()),
        ("Um 17.30 Uhr.", "At 5:30 p.m.", ()),
        ("Um 17.30 Uhr.", "At 6:30 p.m.", (NUMBERS,)),
        ("Um 17.30 Uhr sind 12 da.", "At 5:30 p.m. all are there.", (NUMBERS,)),
    ],
)
def test_times_may_be_of_another_clock(source: str, output: str, found: tuple[str, ...]) -> None:
    assert output_warnings(source, output, ("de", "en")) == found
