"""Names in the place of the protected spans of an earlier translation, so that it can be a draft for a text with placeholders."""

import re
from collections.abc import Iterable, Sequence

from specdec_cli.text.protected import protected_spans

Place = tuple[int, int]
"""First and last offset of a span."""


def with_names(text: str, spans: Sequence[str], names: Sequence[str]) -> str | None:
    """Return `text` with the name of each of the `spans` in the place of an equal one, and the other names in the place of its other
    protected spans, in order. None if it has more or fewer spans than there are names.
    """
    equal = (found.span() for span in set(spans) for found in re.finditer(re.escape(span), text))
    places = united([*protected_spans(text), *equal])
    if len(places) != len(names):
        return None
    left = list(zip(spans, names, strict=True))
    chosen: dict[Place, str] = {}
    for place in places:
        pair = next((each for each in left if each[0] == text[slice(*place)]), None)
        if pair is not None:
            left.remove(pair)
            chosen[place] = pair[1]
    others = iter(left)
    pieces, position = [], 0
    for place in places:
        pieces += [text[position : place[0]], chosen[place] if place in chosen else next(others)[1]]
        position = place[1]
    return "".join([*pieces, text[position:]])


def united(positions: Iterable[Place]) -> list[Place]:
    """Return the `positions` in order, each overlapping group as one."""
    found: list[Place] = []
    for start, end in sorted(positions):
        if found and start < found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found
