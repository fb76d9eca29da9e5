"""Tables of cases, and of templates and words, that tests read from the TOML file beside them."""

import tomllib
from pathlib import Path
from types import SimpleNamespace


def tables(test: str) -> SimpleNamespace:
    """The tables of the file `test`, such as test_dates.py: those of dates.toml beside it. Their rows are lists."""
    path = Path(test)
    return SimpleNamespace(**tomllib.loads(path.with_name(f"{path.stem.removeprefix('test_')}.toml").read_text(encoding="utf-8")))
