"""Limits of the length of files, functions and lines."""

import ast

import pytest

from tests.source import PACKAGES, ROOT, modules, tree

MOST_FILE_LINES, MOST_FUNCTION_LINES, MOST_CHARACTERS = 250, 50, 140


def test_functions_are_small() -> None:
    long = []
    for name in modules():
        for node in ast.walk(tree(name)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None:
                # Without the signature: that of a command has a line for each option.
                length = node.end_lineno - node.body[0].lineno + 1
                long += [f"{name}.{node.name}: {length} lines"] if length > MOST_FUNCTION_LINES else []
    assert long == []


@pytest.mark.parametrize("folder", [*PACKAGES, "documentation", "tests"])
def test_files_are_small(folder: str) -> None:
    lines = {path: path.read_text(encoding="utf-8").count("\n") for path in (ROOT / folder).rglob("*.py")}
    assert [f"{path}: {count} lines" for path, count in lines.items() if count > MOST_FILE_LINES] == []


def test_files_of_the_native_engine_are_small_and_narrow() -> None:
    sources = [path for path in (ROOT / "specdec_cli" / "native").iterdir() if path.suffix in {".c", ".h", ".inc"}]
    lines = {path.name: path.read_text(encoding="utf-8").splitlines() for path in sources}
    assert "kernels.inc" in lines
    assert [f"{name}: {len(own)} lines" for name, own in lines.items() if len(own) > MOST_FILE_LINES] == []
    wide = [f"{name}:{number}" for name, own in lines.items() for number, line in enumerate(own, 1) if len(line) > MOST_CHARACTERS]
    assert wide == []
