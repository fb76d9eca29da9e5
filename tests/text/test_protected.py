"""What a corrector must not touch."""

import pytest

from specdec_cli.text.protected import protected_spans


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("see https://a.org/b?c=d, or www.e.net", ["https://a.org/b?c=d,", "www.e.net"]),
        ("mail me.too+x@mail.example.org now", ["me.too+x@mail.example.org"]),
        ("run `git pussh` and ``a ` b``", ["`git pussh`", "``a ` b``"]),
        ("a ` alone, 5 @ home, a://", []),
    ],
)
def test_addresses_and_code(text: str, spans: list[str]) -> None:
    assert [text[start:end] for start, end in protected_spans(text)] == spans
