"""Rules that all modules keep."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST_LINES = 700
"""A file is one idea, which a reader takes in at once."""


def test_modules_are_short_enough_to_read() -> None:
    paths = [path for folder in ("specdec_cli", "converters") for path in (ROOT / folder).rglob("*.py")]
    lengths = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in paths}
    assert len(lengths) > 100
    assert {name: length for name, length in lengths.items() if length > MOST_LINES} == {}
