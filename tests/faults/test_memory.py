"""Memory stays within limits for unlimited input."""

import gzip
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

MEGABYTES = 60
"""The memory that a run may take beyond a minimal run; --memory is smaller."""
SCRIPT = """
import re, sys
from pathlib import Path
from specdec_cli.app import main
try:
    main()
finally:
    # Not ru_maxrss, which begins with the memory of the process that started this one.
    print(int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) // 1024, file=sys.stderr)
"""


def run(bundle: Path, command: str, folder: Path) -> tuple[int, int, str]:
    """Run `translate` with `command` after it; return exit code, peak memory in MB, and stderr."""
    words = f'exec {sys.executable} -c "$0" translate -m {bundle} --threads 1 --memory 20 --max-length 4 > /dev/null'
    result = subprocess.run(
        ["bash", "-c", command.replace("TRANSLATE", words), SCRIPT], cwd=folder, capture_output=True, text=True, check=False, env=os.environ
    )
    *errors, memory = result.stderr.splitlines()
    return result.returncode, int(memory), "\n".join(errors)


@pytest.fixture(scope="module")
def usual(bundle_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> int:
    """Peak memory of a run with one short line, in MB."""
    code, memory, _ = run(bundle_folder, "echo kalo | TRANSLATE", tmp_path_factory.mktemp("usual"))
    assert code == 0
    return memory


@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted in other units")
@pytest.mark.parametrize("command", ["TRANSLATE < /dev/zero", "yes | tr -d '\\n' | TRANSLATE", "TRANSLATE bomb.gz"])
def test_memory_does_not_grow_with_the_input(
    bundle_folder: Path, tmp_path: Path, usual: int, command: str, count: Callable[[str], None]
) -> None:
    if "bomb" in command:
        (tmp_path / "bomb.gz").write_bytes(b"".join(gzip.compress(bytes(2**24)) for _ in range(32)))
    code, memory, errors = run(bundle_folder, command, tmp_path)
    assert (code, "line 1: longer than 1048576 bytes" in errors) == (3, True)
    assert memory < usual + MEGABYTES
    count("refused")
