"""Protected spans of texts."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.text.protect import spans
from specdec_cli.text.protect.spans import RECOGNISERS, Recogniser, is_number, keeps_order, kind_of, protected_spans

_PARTS = ("a", "Z", "é", "www", "http", "com", "md", "x", "v", "def", "1", "12", "2023", "12345", ".", ":", "::", " ", "\t", "\n")
_SIGNS = ("'", '"', "(", ")", "-", "--", ",", ";", "!", "?", "\u2019", "\u201c", "»", "—", "_", "/", "@", "λ", "\u017f")
_EMOJI = ("\U0001f600", "\ufe0f", "\u20e3", "\u200d", "\U000e0067", "#", "*", "\u00a9", "\u203c", "\u2122")


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("see https://a.org/b?c=d, or www.e.net", ["https://a.org/b?c=d", "www.e.net"]),
        ("mail me.too+x@mail.example.org now", ["me.too+x@mail.example.org"]),
        ("run `git pussh` and ``a ` b``", ["`git pussh`", "``a ` b``"]),
        ("I don`t know why he don`t go", []),
        ("`File`s, un`fold`ed lists and `a b`", ["`File`", "`fold`", "`a b`"]),
        ("(see http://a.org/b).", ["http://a.org/b"]),
        ("a ` alone, 5 @ home, a://", []),
    ],
)
def test_addresses_and_code_are_protected(text: str, spans: list[str]) -> None:
    assert [text[start:end] for start, end in protected_spans(text)] == spans


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("""see <a title="if x > y" href='a > b'>it</a>""", ["""<a title="if x > y" href='a > b'>""", "</a>"]),
        ("<your friend's name>", ["<your friend's name>"]),
        ('<a title="x>he say "hi"', ['<a title="x>']),
        ('<a title="x he say', []),
    ],
)
def test_tags_are_protected_with_their_attributes(text: str, spans: list[str]) -> None:
    assert [text[start:end] for start, end in protected_spans(text)] == spans


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("%d file%s removed", ["%d", "%s"]),
        ("not opened%s.", ["%s"]),
        ("&amp; is &amp;amp; and &amp;#38;", ["&amp;", "&amp;amp;", "&amp;#38;"]),
        (
            '<?xml version="1.0"?> <!DOCTYPE a SYSTEM "b.dtd"> is <![CDATA[it]]> <!',
            ['<?xml version="1.0"?>', '<!DOCTYPE a SYSTEM "b.dtd">', "<![CDATA[", "]]>"],
        ),
        ("the %.*s of %-*.*f at %H:%M, %m", ["%.*s", "%-*.*f", "%H", "%M", "%m"]),
        ("not '%s' or `{name}' or `%1$s'", ["'%s'", "`{name}'", "`%1$s'"]),
        ("Tom's '%s's and '%s %d'", ["%s", "%s", "%d"]),
        ("error%d: %1$s", ["%d", "%1$s"]),
        ("100%s of 5%d and 20%discount", []),
    ],
)
def test_format_arguments_may_follow_letters(text: str, spans: list[str]) -> None:
    assert [text[start:end] for start, end in protected_spans(text)] == spans


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("Step 1\ufe0f\u20e3 is here", ["1\ufe0f\u20e3"]),
        ("1\ufe0f\u20e3", ["1\ufe0f\u20e3"]),
        ("#\ufe0f\u20e3 or *\ufe0f\u20e3, 2\u20e3.", ["#\ufe0f\u20e3", "*\ufe0f\u20e3", "2\u20e3"]),
        (
            "of \U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f!",
            ["\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"],
        ),
        ("a \u00a9\ufe0f and us\u203c\ufe0f", ["\u00a9\ufe0f", "\u203c\ufe0f"]),
        ("big \U0001f1e9\U0001f1ea, \U0001f469\u200d\U0001f4bb\ufe0f", ["\U0001f1e9\U0001f1ea", "\U0001f469\u200d\U0001f4bb\ufe0f"]),
        ("Step 1 is \u00a9, a\u2122 and us\u203c", []),
    ],
)
def test_emoji_are_protected_with_what_modifies_them(text: str, spans: list[str]) -> None:
    assert [text[start:end] for start, end in protected_spans(text)] == spans


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind in RECOGNISERS for text in kind.spans])
def test_examples_are_spans_of_their_kind(kind: Recogniser, text: str) -> None:
    for before, after in (("", ""), ("see ", " now"), ("(", ")")):
        assert [(start, end) for start, end in protected_spans(before + text + after)] == [(len(before), len(before + text))]
    assert kind_of(text) is kind


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind in RECOGNISERS for text in kind.not_spans])
def test_counterexamples_have_no_span_of_the_kind(kind: Recogniser, text: str) -> None:
    text = f"see {text} now"
    assert kind not in [kind_of(text[start:end]) for start, end in protected_spans(text)]


def test_every_kind_has_examples() -> None:
    assert [kind.name for kind in RECOGNISERS if not (kind.spans or kind.name == "link_start") or not kind.not_spans] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello <%= user.name %>, welcome to <%= site %>.", ["<%= user.name %>", "<%= site %>"]),
        ("<% if admin? %>You are one.<% end %>", ["<% if admin? %>", "<% end %>"]),
        ("Sum of $7$ and $12$ is $19$.", ["$7$", "$12$", "$19$"]),
        ("It costs $5 and $10, or $3,000.50 to $4,000.", []),
        ("Use &lt;em&gt; and &lt;/em&gt; for a < b &gt; c.", ["&lt;em&gt;", "&lt;/em&gt;", "&gt;"]),
        (r"D:\My Games\Save Files\one.txt today", [r"D:\My Games\Save Files\one.txt"]),
        (r"C:\Temp\New Folder\a b.txt please", [r"C:\Temp\New Folder\a b.txt"]),
        (r"The file c:\x is here.", [r"c:\x"]),
        (r"Copy C:\Temp and D:\Data\Old Files.", [r"C:\Temp", r"D:\Data\Old Files"]),
        (r"Open C:\Temp\one and two.txt now", [r"C:\Temp\one", "two.txt"]),
        ("Ship it :tada: now at 10:30:15 :+1:", [":tada:", "10:30:15", ":+1:"]),
        ("Use #{user.first name} and ${ HOME }", ["#{user.first name}", "${ HOME }"]),
    ],
)
def test_spans_in_sentences(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in protected_spans(text)] == expected


@pytest.mark.parametrize(
    ("span", "number", "ordered"),
    [
        ("%d", True, True),
        ("%s", False, True),
        ("%1$d", True, False),
        ("%(count)s", True, False),
        ("%(name)s", False, False),
        ("{0:.2f}", True, False),
        ("{{ item_count }}", True, False),
        ("{{ name }}", False, False),
        ("<%= @count %>", True, False),
        ("<%= user.name %>", False, False),
        ("$total", True, False),
        ("<b>", False, True),
        ("no span", False, False),
    ],
)
def test_kinds_say_what_stands_for_a_number_and_what_keeps_its_order(span: str, number: bool, ordered: bool) -> None:
    assert (is_number(span), keeps_order(span)) == (number, ordered)


@pytest.mark.parametrize("text", ["a" * 200_000 + "." * 1000, "](" + "a" * 100_000, "1" * 100_000 + "a", "%" + "0" * 100_000 + "bb"])
def test_a_long_word_takes_little_time(text: str) -> None:
    assert [text[start:end] for start, end in protected_spans(text)] == re.findall("a{100,}", text)


def test_only_what_is_too_long_for_a_word_is_protected() -> None:
    word = "ab\u00fc" * 33
    assert protected_spans(f"the {word}, {word}-{word}") == []
    assert protected_spans(f"the {word}d, {word}") == [(4, 104)]


_JOINED = "|".join(f"(?:{kind.pattern.replace('ticks', f'ticks{place}')})" for place, kind in enumerate(RECOGNISERS))
_EXAMPLES = tuple(text for kind in RECOGNISERS for text in (*kind.spans, *kind.not_spans) if len(text) < 60)


@given(st.lists(st.sampled_from(_PARTS + _SIGNS + _EMOJI) | st.sampled_from(_EXAMPLES), max_size=9).map("".join), st.booleans())
def test_spans_are_those_of_all_patterns_joined(text: str, latin: bool) -> None:
    pattern = f"{_JOINED}|{spans._OTHER_SCRIPT.pattern}" if latin else _JOINED
    expected = [found.span() for found in re.finditer(pattern, text, re.IGNORECASE)]
    assert protected_spans(text, latin=latin) == expected
