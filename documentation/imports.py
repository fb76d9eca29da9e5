"""The imports between the rooms of the code, read from the source files.

A room is a package of `specdec_cli`, or `converters`. The top-level modules of `specdec_cli` form two rooms: `app`, and `base`, which
all others may import.
"""

from collections.abc import Mapping
from graphlib import TopologicalSorter

from tests.source import imported, modules

APP = ("app", "__main__", "completions")
"""The top-level modules of `specdec_cli` in the room `app`; the other top-level modules are in the room `base`."""
Graph = Mapping[str, frozenset[str]]


def room(module: str) -> str:
    """The room of the module with the dotted name `module`: its package in `specdec_cli`, or "converters", "app" or "base".

    The modules of `specdec_cli` outside its packages are in "app" if they are named in APP, else in "base".
    """
    top, *rest = module.split(".")
    if top == "converters":
        return top
    if rest and modules()[f"{top}.{rest[0]}"].name == "__init__.py":
        return rest[0]
    return "app" if rest and rest[0] in APP else "base"


def read_imports() -> Graph:
    """For each room (package of the code), the other rooms that its modules import, imports inside functions included."""
    graph: dict[str, set[str]] = {}
    for module in modules():
        graph.setdefault(room(module), set()).update(map(room, imported(module)))
    return {name: frozenset(graph[name] - {name}) for name in sorted(graph)}


def reachable(graph: Graph, start: str) -> frozenset[str]:
    """The rooms (packages of the code) that the room `start` imports in `graph`, directly or indirectly."""
    found: set[str] = set()
    waiting = list(graph[start])
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += graph[name]
    return frozenset(found)


def levels(graph: Graph) -> dict[str, int]:
    """The level of each room (package of the code): 0 if it imports none, else one above the highest room that it imports.

    Raises graphlib.CycleError if rooms import each other.
    """
    level: dict[str, int] = {}
    for name in TopologicalSorter(graph).static_order():
        level[name] = 1 + max((level[other] for other in graph[name]), default=-1)
    return level


def direct(graph: Graph) -> list[tuple[str, str]]:
    """The pairs (importer, imported) of rooms in `graph`, without imports that are indirect too, by way of another room."""
    return [
        (upper, lower)
        for upper, imported_rooms in graph.items()
        for lower in sorted(imported_rooms)
        if not any(lower in reachable(graph, other) for other in imported_rooms)
    ]
