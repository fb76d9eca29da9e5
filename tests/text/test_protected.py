"""Protected spans of texts."""

import pytest

from specdec_cli.text.protected import protected_spans


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("see https://a.org/b?c=d, or www.e.net", ["https://a.org/b?c=d", "www.e.net"]),
        ("mail me.too+x@mail.example.org now", ["me.too+x@mail.example.org"]),
        ("run `git pussh` and ``a ` b``", ["`git pussh`", "``a ` b``"]),
        ("I don`t know why he don`t go", []),
        ("(see http://a.org/b).", ["http://a.org/b"]),
        ("a ` alone, 5 @ home, a://", []),
    ],
)
def test_addresses_and_code_are_protected(text: str, spans: list[str]) -> None:
    assert [text[start:end] for start, end in protected_spans(text)] == spans


def test_a_long_word_takes_little_time() -> None:
    assert protected_spans("a" * 200_000 + "." * 1000) == []
