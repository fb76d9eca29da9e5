"""Every public module, class, function and method has a docstring."""

import ast
from collections.abc import Iterator

from tests.source import modules, tree

Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def public(node: Documented, name: str) -> Iterator[tuple[str, Documented]]:
    """A module, class or function, and the public definitions in it, each with its dotted name."""
    yield name, node
    for inner in node.body if isinstance(node, ast.Module | ast.ClassDef) else ():
        if (
            isinstance(inner, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and not inner.name.startswith("_")
            and not is_setter(inner)
        ):
            yield from public(inner, f"{name}.{inner.name}")


def is_setter(node: Documented) -> bool:
    """Whether a method sets a property, whose docstring is that of the getter."""
    return isinstance(node, ast.FunctionDef) and any(
        isinstance(each, ast.Attribute) and each.attr == "setter" for each in node.decorator_list
    )


def test_public_definitions_have_docstrings() -> None:
    found = [each for name in modules() for each in public(tree(name), name)]
    assert [inner for inner, node in found if not ast.get_docstring(node)] == []


def test_docstrings_begin_with_a_sentence() -> None:
    found = [each for name in modules() for each in public(tree(name), name)]
    texts = {inner: ast.get_docstring(node) or "" for inner, node in found}
    assert [inner for inner, text in texts.items() if not text.split("\n\n")[0].rstrip().endswith((".", ":", "?"))] == []
