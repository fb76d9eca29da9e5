"""Limits of the length of files and functions."""

import ast

import pytest

from tests.source import modules, tree

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
