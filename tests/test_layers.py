"""The layers of the packages: modules import only from lower layers, and no import cycle exists."""

import ast
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.source import imported, modules, tree

LAYERS = (
    {"__main__"},
    {"app"},
    {"completions"},
    {"commands"},
    {"work"},
    {"console"},
    {"benchmark"},
    {"visualization", "training", "distillation", "server", "cluster"},
    {"api"},
    {"opening"},
    {"pipeline"},
    {"engines"},
    {"native", "kernels"},
    {"decoding"},
    {"converters"},
    {"model"},
    {"error_types"},
    {"metrics", "corruption", "memories"},
    {"documents"},
    {"text.corpus"},
    {"text.checks", "text.glossary", "text.labels", "text.shape", "text.spelling", "text.tags"},
    {"text.apart", "text.people"},
    {"text.segment", "english"},
    {"text.quotations"},
    {"text.locale"},
    {"text.protect"},
    {"text.view"},
    {"text", "text.edits", "text.io", "text.marks", "text.tokenize"},
    {
        "devices",
        "digests",
        "errors",
        "failures",
        "fields",
        "files",
        "language_codes",
        "measurement_cache",
        "process",
        "processes",
        "processors",
        "recipe",
        "version",
    },
)
"""Rooms of specdec_cli, and the package converters, the highest layer first. A room imports only from itself and from lower layers."""
BASE = max(range(len(LAYERS)))


def room(name: str) -> str:
    """The room of a module of specdec_cli: the folder or the file at the top of the package, and in `text` that at the top of this."""
    if name.split(".")[0] == "converters":
        return "converters"
    parts = name.split(".")[1:3]
    return ".".join(parts if parts[:1] == ["text"] else parts[:1])


def layer(name: str) -> int:
    """The number of a module's layer, from 0 at the top. Modules in no layer are in the lowest one."""
    return next((place for place, rooms in enumerate(LAYERS) if room(name) in rooms), BASE)


FACE = "specdec_cli"
"""The package itself imports the names of its API when they are used: for the layers, it imports nothing."""
OWN = list(modules())


def test_imports_go_to_lower_layers() -> None:
    upper = [name for name in OWN if layer(name) < BASE]
    pairs = [(name, other) for name in upper for other in imported(name) if room(other) != room(name)]
    assert [pair for pair in pairs if layer(pair[1]) <= layer(pair[0])] == []


def test_the_lowest_layer_imports_only_itself() -> None:
    pairs = [(name, other) for name in OWN if layer(name) == BASE and name != FACE for other in imported(name)]
    assert [pair for pair in pairs if layer(pair[1]) < BASE] == []


def test_converters_import_only_models_and_text() -> None:
    pairs = [(name, other) for name in OWN if room(name) == "converters" for other in imported(name)]
    allowed = ("converters", "model", "text")
    assert [pair for pair in pairs if room(pair[1]).split(".")[0] not in allowed and layer(pair[1]) < BASE] == []


def test_no_import_cycle_exists() -> None:
    graph = {name: set(imported(name)) - {name} for name in modules() if name != FACE}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"import cycle: {' -> '.join(error.args[1])}")


def test_a_command_imports_its_work_alone_when_it_runs() -> None:
    """Options load fast; what the work of a command needs is imported at the top of its module in `work`."""
    inside = [
        (name, node.module)
        for name in OWN
        if room(name) == "commands"
        for function in ast.walk(tree(name))
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.ImportFrom) and node.module
    ]
    assert len(inside) >= 10
    assert [each for each in inside if room(each[1]) != "work"] == []
