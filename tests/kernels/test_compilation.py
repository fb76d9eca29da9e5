"""All kernels compile for cards of six compute capabilities, and none needs more shared memory than they have."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton", reason="triton is not installed: pip install -e '.[kernels-test]'")
from tests.kernels.compiling import SHARED_MEMORY

ROOT = Path(__file__).parents[2]
KERNELS = "_accept _append _attend _embed _forbid _gate _inputs _linear _merge _norm _sample _score _walk _weigh"


@pytest.mark.parametrize("capability", SHARED_MEMORY)
def test_kernels_compile_and_fit_into_shared_memory(capability: int) -> None:
    # The interpreter is chosen when Triton is imported.
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    command = [sys.executable, "-m", "tests.kernels.compiling", str(capability)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["errors"] == []
    assert sorted(found["shared"]) == KERNELS.split()
    assert max(found["shared"].values()) <= SHARED_MEMORY[capability]
