"""Limits of the length of files and functions."""

import ast

import pytest

from tests.source import PACKAGES, ROOT, modules, tree

MOST_FILE_LINES, MOST_FUNCTION_LINES = 250, 50


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
