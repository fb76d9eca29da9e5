"""Each reason to drop a translation, and translations just within the limits."""

from dataclasses import replace

import pytest

from specdec_cli.distillation.run import Filters, reason_to_drop
from specdec_cli.distillation.teachers import Translation

SOURCE = "a source of five words"
GOOD = Translation("ein Satz mit fünf Wörtern", source_tokens=6, tokens=7, finished=True)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"tokens": 0, "finished": False, "text": ""}, "source too long"),
        ({"finished": False}, "no end within the maximum length"),
        ({"text": " "}, "empty output"),
        ({"text": "ein\tSatz"}, "tab, line break or NUL in the output"),
        ({"text": "ein Satz\n"}, "tab, line break or NUL in the output"),
        ({"text": "ein\u2028Satz"}, None),
        ({"text": "ein \ufffd"}, "broken characters in the output"),
        ({"tokens": 18}, None),
        ({"tokens": 19}, "runaway length"),
        ({"tokens": 10, "source_tokens": 2}, None),
        ({"tokens": 11, "source_tokens": 2}, "runaway length"),
        ({"text": SOURCE + " "}, "copy of the source"),
    ],
)
def test_each_reason_to_drop_is_found(changes: dict[str, object], reason: str | None) -> None:
    assert reason_to_drop(SOURCE, replace(GOOD, **changes), Filters()) == reason  # type: ignore[arg-type]


def test_copies_of_names_and_in_corrections_are_kept() -> None:
    assert reason_to_drop("Johann Sebastian Bach", replace(GOOD, text="Johann Sebastian Bach"), Filters()) is None
    assert reason_to_drop(SOURCE, replace(GOOD, text=SOURCE), Filters(keep_copies=True)) is None


def test_invalid_characters_of_the_source_are_no_reason_to_drop() -> None:
    assert reason_to_drop("a \ufffd source", replace(GOOD, text="ein \ufffd"), Filters()) is None
