"""Limits of the length of files and functions."""

import ast

import pytest

from tests.source import ROOT, modules, tree

MOST_FILE_LINES, MOST_FUNCTION_LINES = 250, 50


@pytest.mark.parametrize("name", modules())
def test_files_and_functions_are_small(name: str) -> None:
    lines = modules()[name].read_text(encoding="utf-8").count("\n")
    long = [f"{name}: {lines} lines"] if lines > MOST_FILE_LINES else []
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None:
            # Without the signature: that of a command has a line for each option.
            length = node.end_lineno - node.body[0].lineno + 1
            long += [f"{name}.{node.name}: {length} lines"] if length > MOST_FUNCTION_LINES else []
    assert long == []


@pytest.mark.parametrize("folder", ["tests", "documentation"])
def test_files_of_tests_and_documentation_are_small(folder: str) -> None:
    lines = {path: path.read_text(encoding="utf-8").count("\n") for path in (ROOT / folder).rglob("*.py")}
    assert [f"{path}: {count} lines" for path, count in lines.items() if count > MOST_FILE_LINES] == []
