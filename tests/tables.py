"""Data of tests: tables of cases, templates and words in the TOML file beside a test, and sample documents."""

import tomllib
from pathlib import Path
from types import SimpleNamespace


def tables(test: str) -> SimpleNamespace:
    """The tables of the file `test`, such as test_dates.py: those of dates.toml beside it. Their rows are lists."""
    path = Path(test)
    return SimpleNamespace(**tomllib.loads(path.with_name(f"{path.stem.removeprefix('test_')}.toml").read_text(encoding="utf-8")))


def sample(name: str) -> str:
    """The text of a document of tests/data/documents."""
    return (Path(__file__).parent / "data" / "documents" / name).read_text(encoding="utf-8")
