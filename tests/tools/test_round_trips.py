"""Round trips of documents: what they count."""

import pytest

from tools.round_trips import RESULT, Trip, changed, outside, round_trip, table

SAMPLES = {
    "md": b"# My house\n\n- the *old* `code` house<br>stands\n\n```\nthe code\n```\n",
    "html": b"<p title='my house'>The <b>old</b> house &amp; the <img alt='new one'> door</p><script>the code</script>",
    "srt": b"1\n00:00:01,000 --> 00:00:02,000\nHello there,\nmy <i>friend</i>.\n",
    "po": b'# note\nmsgid "the house"\nmsgstr ""\n\n#, fuzzy\nmsgid "one %s door"\nmsgid_plural "two"\nmsgstr[0] ""\nmsgstr[1] ""\n',
    "xliff": b'<xliff version="1.2"><file><trans-unit id="1"><source>the <g id="1">old</g> house</source></trans-unit></file></xliff>',
}


@pytest.mark.parametrize(("format", "segments"), [("md", 2), ("html", 3), ("srt", 1), ("po", 3), ("xliff", 1)])
def test_a_round_trip_loses_nothing(format: str, segments: int) -> None:
    assert round_trip(SAMPLES[format], format, "sample") == Trip(segments, 0, 0)


@pytest.mark.parametrize(
    ("format", "old", "new"),
    [
        ("md", b"the code", b"the text"),
        ("html", b"the code", b"the text"),
        ("srt", b"01,000", b"01,001"),
        ("po", b"# note", b"# Note"),
        ("xliff", b'id="1"><source', b'id="2"><source'),
    ],
)
def test_what_is_no_text_is_compared(format: str, old: bytes, new: bytes) -> None:
    assert outside(SAMPLES[format].replace(old, new), format) != outside(SAMPLES[format], format)


def test_protected_text_and_lengths_stay() -> None:
    assert changed("the house at http://a.org/the") == "gsv slfhv at http://a.org/the"


def test_the_table_has_a_row_for_each_format() -> None:
    assert RESULT.exists()
    assert [line.split("|")[1].strip(" `") for line in table().splitlines() if line.startswith("| `")] == [
        "docx",
        "html",
        "md",
        "po",
        "srt",
        "vtt",
        "xliff",
    ]
