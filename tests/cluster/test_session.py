"""Workers of a cluster import the package of the process that starts them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.cluster_runs import alone

pytest.importorskip("ray", reason="ray is not installed: pip install -e '.[cluster]'")


@pytest.mark.long
def test_a_copy_of_the_package_in_the_current_folder_is_not_imported(bundle_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "specdec_cli").mkdir()
    (tmp_path / "specdec_cli" / "__init__.py").write_text("raise ImportError('another copy')\n", encoding="utf-8")
    (tmp_path / "a.txt").write_text("ka lo\nmi re\n", encoding="utf-8")
    command = [sys.executable, "-P", "-m", "specdec_cli", "translate", "-m", str(bundle_folder), "a.txt", "--max-length", "8"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}

    def run(*options: str) -> str:
        done = subprocess.run([*command, *options], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    expected = run("--threads", "1")
    with alone():
        run("--ray", "--workers", "1", "-o", "out.txt")
    assert (tmp_path / "out.txt").read_text(encoding="utf-8") == expected
