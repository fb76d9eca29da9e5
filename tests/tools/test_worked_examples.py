"""The examples of CONTRIBUTING.md run in a copy of the package."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.pages import ROOT

_CODE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROGRAM = """\
import json
import sys
from pathlib import Path
from typer.testing import CliRunner
from specdec_cli.app import app
from specdec_cli.benchmark.results import Measured, Outcome, summarise
from specdec_cli.benchmark.rows import Row
from specdec_cli.benchmark.runs import Output, Run
from specdec_cli.benchmark.tables import main_table

CHAINS = ("aligned-copy", "lookup,aligned-copy", "aligned-copy,gs-jacobi")

def run(*arguments):
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    return result.stdout

decode = ("translate", "-m", sys.argv[1], sys.argv[2], "--threads", "1", "--max-length", "12")
greedy = run(*decode, "--decoding", "greedy")
assert greedy.strip() and run(*decode, "--decoding", "aligned-copy", "--block-size", "4") == greedy
bench = ("bench", "-m", sys.argv[1], sys.argv[3], "--threads", "1", "--max-length", "12", "--repetitions", "1", "--json", "bench.json")
run(*bench, *(part for row in ("greedy", *CHAINS) for part in ("--row", row)))
rows = {row["decoding"]: row for row in json.loads(Path("bench.json").read_text())["rows"]}
assert all(rows[chain]["identical"] == [6, 6] and rows[chain]["drafted"] > 0 for chain in CHAINS), rows
traced = CliRunner().invoke(app, [*decode, "--decoding", "aligned-copy", "--trace"]).stderr
assert " D " in traced, traced
assert "aligned-copy" in run("translate", "--help-all")

measured = Measured(Row("greedy"), {}, (Run(2.0, (Output("a", ((5, 6, 7, 3),)),)),))
results = summarise([measured], lambda texts: None)
table = main_table(results)
assert dict(zip(table.columns, table.rows[0]))["ms a token"] == "500.00"
assert Outcome(results, {}, {}).to_json()["rows"][0]["ms_per_token"] == 500.0
"""


def insert(path: Path, before: str, line: str) -> None:
    """Insert a line before the first occurrence of `before`."""
    text = path.read_text(encoding="utf-8")
    place = text.index(before)
    path.write_text(text[:place] + line + text[place:], encoding="utf-8")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A folder with a copy of the package, without its models."""
    shutil.copytree(ROOT / "specdec_cli", tmp_path / "specdec_cli", ignore=shutil.ignore_patterns("bundles", "__pycache__"))
    for name in ("converters", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


def test_the_examples_for_drafters_and_columns_run(package: Path, bundle_folder: Path, lines: list[str]) -> None:
    module, method, column = _CODE.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    (package / "specdec_cli" / "decoding" / "drafters" / "aligned_copy.py").write_text(module, encoding="utf-8")
    insert(package / "specdec_cli" / "decoding" / "methods.py", '        Method("ngram-memory"', f"        {method.strip()},\n")
    insert(package / "specdec_cli" / "benchmark" / "results.py", '    Column("peak_memory_mb"', f"    {column.strip()},\n")
    text = package / "text"
    text.write_text("".join(f"{line}\n" for line in lines[:6]), encoding="utf-8")
    pairs = package / "pairs.tsv"
    pairs.write_text("".join(f"{line}\t{line}\n" for line in lines[:6]), encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(package)}
    command = [sys.executable, "-P", "-c", PROGRAM, str(bundle_folder), str(text), str(pairs)]
    done = subprocess.run(command, env=environment, cwd=package, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_package_does_not_contain_the_examples() -> None:
    assert not (ROOT / "specdec_cli" / "decoding" / "drafters" / "aligned_copy.py").exists()
    assert "ms_per_token" not in (ROOT / "specdec_cli" / "benchmark" / "results.py").read_text(encoding="utf-8")
