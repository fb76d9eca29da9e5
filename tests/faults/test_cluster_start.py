"""A Ray cluster that does not start is reported in one line."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest

from specdec_cli.cluster.session import LOCAL, Session
from specdec_cli.errors import UsageError


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            Exception("The current node timed out during startup. This could happen\nbecause.."),
            "The current node timed out during startup.",
        ),
        (RuntimeError("Failed to start GCS."), "Failed to start GCS."),
        (AssertionError(), "AssertionError()"),
    ],
)
def test_a_cluster_that_does_not_start_is_reported(
    error: Exception, said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, count: Callable[[str], None]
) -> None:
    def fail(*_: Any, **__: Any) -> NoReturn:
        raise error

    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(init=fail))
    with pytest.raises(UsageError) as raised:
        Session(LOCAL, 1, tmp_path).start()
    assert str(raised.value).startswith(f"the local Ray cluster: {said}") and "\n" not in str(raised.value)
    count("refused")
