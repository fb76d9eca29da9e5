"""Every call of a function of `re` in the source of the packages, and how the pattern that it compiles is then used."""

import ast
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from tests.source import modules, tree

_SEARCHES = ("search", "finditer", "findall", "split", "sub", "subn")
_METHODS = dict.fromkeys(_SEARCHES, "search") | {"match": "match", "fullmatch": "fullmatch"}


class Site(NamedTuple):
    """A call in a module, at a line: the name of the pattern or of the table that has it, or else of the function that has the call; the
    call itself, and the methods (match, fullmatch, search) by which the pattern is used. A pattern that is passed on, or in a table, counts
    as one that is searched for.
    """

    module: str
    line: int
    name: str
    call: ast.Call
    methods: frozenset[str]

    @property
    def key(self) -> str:
        """Module and name."""
        return f"{self.module}:{self.name}"


def sites() -> Iterator[Site]:
    """Yield all calls. Raises AssertionError for a use of `re` that would escape them."""
    for module in modules():
        names = {alias.asname or alias.name for node in ast.walk(tree(module)) if isinstance(node, ast.Import) for alias in node.names}
        sources = {node.module for node in ast.walk(tree(module)) if isinstance(node, ast.ImportFrom)}
        assert "re" not in sources, f"{module}: import re, so that its calls are seen"
        assert "regex" not in names | sources, f"{module}: regex has other rules than re"
        yield from _sites(module, tree(module), "", "")


def _sites(module: str, node: ast.AST, function: str, target: str) -> Iterator[Site]:
    for child in ast.iter_child_nodes(node):
        inner, name = function, target
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            inner, name = child.name, ""
        elif isinstance(child, ast.Assign | ast.AnnAssign) and not function:
            first = child.targets[0] if isinstance(child, ast.Assign) else child.target
            name = ast.unparse(first)
            if isinstance(first, ast.Tuple) and isinstance(child.value, ast.Tuple):
                for each, value in zip(first.elts, child.value.elts, strict=True):
                    pair = ast.Assign([each], value)
                    yield from _sites(module, ast.Module([pair], []), "", "")
                continue
        if isinstance(child, ast.Call) and _is_of_re(child):
            assert isinstance(child.func, ast.Attribute)
            own = child.func.attr
            if own != "compile":
                methods = frozenset({_METHODS[own]})
            else:
                is_plain = isinstance(node, ast.Assign | ast.AnnAssign) and name.isidentifier()
                methods = _uses(name, module) if is_plain else frozenset({"search"})
            yield Site(module, child.lineno, name or function, child, methods)
        yield from _sites(module, child, inner, name)


def _is_of_re(call: ast.Call) -> bool:
    func = call.func
    is_own = isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "re"
    return is_own and isinstance(func, ast.Attribute) and func.attr in (*_METHODS, "compile")


def _uses(name: str, module: str) -> frozenset[str]:
    """How a pattern with a name of its own is used, in its module and in those that import it."""
    users = [each for each in modules() if each == module or name in _imported(each).get(module, ())]
    found = set[str]()
    for user in users:
        loads = 0
        for node in ast.walk(tree(user)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name:
                loads -= 1
                found |= {_METHODS[node.attr]} if node.attr in _METHODS else set()
            loads += isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
        found |= {"search"} if loads > 0 else set()
    return frozenset(found)


@cache
def _imported(module: str) -> dict[str, set[str]]:
    """The names that a module imports from each other."""
    found = dict[str, set[str]]()
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            found.setdefault(node.module, set()).update(alias.name for alias in node.names)
    return found
