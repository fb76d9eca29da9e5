"""An SVG picture of the rooms (packages) of the code and their imports, level by level."""

from collections.abc import Mapping
from itertools import pairwise

from documentation.imports import Graph, direct, levels
from specdec_cli.visualization.drawing import document, text

_WIDTH, _HEIGHT, _GAP, _LANE, _DOWN, _EDGE = 112, 30, 24, 10, 76, 14
_STYLE = "path{fill:none;stroke:currentColor;stroke-opacity:.5}rect{fill:none;stroke:currentColor}"

Node = tuple[str, str, int]
"""(room, room, level) for a room, or (importer, imported, level) for each level between them that the line of an import crosses."""


def to_svg(graph: Graph) -> str:
    """An SVG document of the rooms in `graph`, each above all rooms that it imports, with lines for imports.

    Imports that are indirect too, by way of another room, have no line. Raises graphlib.CycleError if rooms import each other.
    """
    level = levels(graph)
    paths = [_path(level, upper, lower) for upper, lower in direct(graph)]
    across, width = _across(graph, level, paths)
    top = max(level.values())

    def point(node: Node) -> tuple[float, float]:
        return across[node], _EDGE + _HEIGHT / 2 + _DOWN * (top - node[2])

    parts = [_line([point(node) for node in path]) for path in paths]
    for name in graph:
        x, y = point((name, name, level[name]))
        parts.append(f'<rect x="{x - _WIDTH / 2:g}" y="{y - _HEIGHT / 2:g}" width="{_WIDTH}" height="{_HEIGHT}" rx="4"/>')
        parts.append(text(x, y + 4, name))
    return document(width, 2 * _EDGE + _HEIGHT + _DOWN * top, "Imports between the rooms of the code", parts, _STYLE)


def _path(level: Mapping[str, int], upper: str, lower: str) -> list[Node]:
    between = [(upper, lower, passed) for passed in range(level[upper] - 1, level[lower], -1)]
    return [(upper, upper, level[upper]), *between, (lower, lower, level[lower])]


def _across(graph: Graph, level: Mapping[str, int], paths: list[list[Node]]) -> tuple[dict[Node, float], float]:
    """The horizontal positions of all nodes, and the total width: each level is centred, and sorted by the nodes above it."""
    above: dict[Node, list[Node]] = {(name, name, level[name]): [] for name in graph}
    for path in paths:
        for upper, lower in pairwise(path):
            above.setdefault(lower, []).append(upper)
    rows = [[node for node in above if node[2] == number] for number in range(max(level.values()), -1, -1)]
    width = max(sum(map(_size, row)) for row in rows) + 2 * _EDGE
    across: dict[Node, float] = {}
    for row in rows:
        row.sort(key=lambda node: sum(across[one] for one in above[node]) / max(len(above[node]), 1))
        left = (width - sum(map(_size, row))) / 2
        for node in row:
            across[node] = left + _size(node) / 2
            left += _size(node)
    return across, width


def _size(node: Node) -> float:
    return (_WIDTH if node[0] == node[1] else _LANE) + _GAP


def _line(points: list[tuple[float, float]]) -> str:
    """The path of a curve through `points`, vertical at each level."""
    (x, y), *rest = points
    y += _HEIGHT / 2
    parts = [f"M{x:g} {y:g}"]
    for to_x, middle in rest:
        to_y = middle - _HEIGHT / 2
        half = (y + to_y) / 2
        parts.append(f"C{x:g} {half:g} {to_x:g} {half:g} {to_x:g} {to_y:g}V{to_y + _HEIGHT if (to_x, middle) != rest[-1] else to_y:g}")
        x, y = to_x, to_y + _HEIGHT
    return f'<path d="{"".join(parts)}"/>'
