"""Files and functions stay small: `pytest tests/test_sizes.py` lists those that are too long."""

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
            # From the body on: the signature of a command has a line for each of its options.
            length = node.end_lineno - node.body[0].lineno + 1
            long += [f"{name}.{node.name}: {length} lines"] if length > MOST_FUNCTION_LINES else []
    assert long == []
