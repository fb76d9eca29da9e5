"""Which rooms of the code import which, read from the source files.

A room is a package of `specdec_cli`, or `converters`. The modules beside the packages are in two rooms: `app`, and `base` below all
others.
"""

from collections.abc import Mapping
from graphlib import TopologicalSorter

from tests.source import imported, modules

APP = ("app", "__main__", "completions")
"""Modules of the room `app`; the other ones beside the packages are `base`."""
Graph = Mapping[str, frozenset[str]]


def room(module: str) -> str:
    """The room of a module of ours, by its dotted name."""
    top, *rest = module.split(".")
    if top == "converters":
        return top
    if rest and modules()[f"{top}.{rest[0]}"].name == "__init__.py":
        return rest[0]
    return "app" if rest and rest[0] in APP else "base"


def read_imports() -> Graph:
    """The rooms, each with those that it imports, anywhere in its code."""
    graph: dict[str, set[str]] = {}
    for module in modules():
        graph.setdefault(room(module), set()).update(map(room, imported(module)))
    return {name: frozenset(graph[name] - {name}) for name in sorted(graph)}


def reachable(graph: Graph, start: str) -> frozenset[str]:
    """The rooms that `start` imports, directly or by way of others."""
    found: set[str] = set()
    waiting = list(graph[start])
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += graph[name]
    return frozenset(found)


def levels(graph: Graph) -> dict[str, int]:
    """The level of each room, counted from the bottom: one above the highest room that it imports. Raises CycleError."""
    level: dict[str, int] = {}
    for name in TopologicalSorter(graph).static_order():
        level[name] = 1 + max((level[other] for other in graph[name]), default=-1)
    return level


def direct(graph: Graph) -> list[tuple[str, str]]:
    """The imports that do not follow from others."""
    return [
        (upper, lower)
        for upper, imported_rooms in graph.items()
        for lower in sorted(imported_rooms)
        if not any(lower in reachable(graph, other) for other in imported_rooms)
    ]
