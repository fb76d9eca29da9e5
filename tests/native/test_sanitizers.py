"""The short form of `make check-native`: the native engine under sanitizers of memory, undefined behaviour and threads."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.native.sanitize import SANITIZERS, runtime_of

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.long
def test_sanitizers_find_nothing() -> None:
    if missing := [name for name in SANITIZERS if runtime_of(name) is None]:
        pytest.skip(f"gcc does not have these sanitizers here: {'; '.join(missing)}")
    run = subprocess.run([sys.executable, "-m", "tests.native.sanitize", "--short"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-4000:]
    assert run.stderr.count("every way agrees") == len(SANITIZERS)
