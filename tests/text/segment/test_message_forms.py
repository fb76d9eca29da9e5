"""Messages with forms: their syntax is found, and each form is a text of its own."""

import pytest

from specdec_cli.text.segment.layout import FormReader, Passthrough, segment_line

MESSAGES = [
    ("{n, plural, one {# house} other {# houses}}", ["house", "houses"]),
    ("You have {n, plural, =0 {no mail} other {# letters}} today.", ["You have", "no mail", "letters", "today."]),
    ("{g, select, he {{n, plural, one {His cat} other {His cats}}} other {Their cats}}", ["His cat", "His cats", "Their cats"]),
    ("{n, selectordinal, one {#st visit} other {#th visit}}", ["#st visit", "#th visit"]),
    ("{n, plural, offset:1 =1 {{host} waits} other {{host} and # wait}}", ["{host} waits", "{host} and # wait"]),
    ("{n, plural, one {'{' opens it} other {close '}' now}}", ["'{' opens it", "close '}' now"]),
    ("{0,choice,0#no files|1#one file|1<{0,number} files}", ["no files", "one file", "{0,number} files"]),
    ("It has {0, choice, -1#less|0<{0}|\u221e#all} of it.", ["It has", "less", "all", "of it."]),
    ("{0,choice,0#no files|1#one", ["{0,choice,0#no files|1#one"]),
    ("{m, plural, other {{{m}} minutes ago}}", ["{{m}} minutes ago"]),
    ("Forms (`{n, plural, one {a} other {b}}`) are read.", ["Forms (`{n, plural, one {a} other {b}}`) are read."]),
    ("{n, plural, one {use `x {y}` once} other {twice}}", ["use `x {y}` once", "twice"]),
    ("Set {a, b} and {x} of {d, date, short}.", ["Set {a, b} and {x} of {d, date, short}."]),
]


@pytest.mark.parametrize(("line", "texts"), MESSAGES)
def test_each_form_is_a_text_of_its_own(line: str, texts: list[str]) -> None:
    segments = segment_line(line, 100, len, Passthrough("en", "de"))
    assert list(segments.texts) == texts
    assert segments.join(segments.texts) == line


def test_a_message_may_be_read_in_parts() -> None:
    reader = FormReader()
    parts = ["{n, plural, one {a ", "house} other {", "houses}} here", " {x} and {"]
    assert [[part[start:end] for start, end in reader.syntax(part)] for part in parts] == [["{n, plural, one {"], ["} other {"], ["}}"], []]
