"""Words that stand in another place: the insertion and the deletion of a word, as one edit."""

from collections.abc import Sequence

from specdec_cli.text.edits import Edit

_MOST_WORDS = 3
"""Words that a moved word passes."""


def with_moves(source: str, edits: Sequence[Edit], tags: Sequence[int] = ()) -> list[Edit]:
    """Return `edits` of the text `source`, in order, in which each move of a word is one edit.

    A move inserts a word and deletes the same word, with one to three unchanged words between both. Its score is the sum of their scores.
    It passes none of the offsets `tags`, where the text has markup.
    """
    found: list[Edit] = []
    for edit in edits:
        if found and _is_move(source, found[-1], edit) and not any(found[-1].start <= tag <= edit.end for tag in tags):
            edit = _joined(source, found.pop(), edit)
        found.append(edit)
    return found


def _is_move(source: str, first: Edit, second: Edit) -> bool:
    """Whether one of two edits, in order, inserts the words that the other one deletes."""
    if bool(first.source) == bool(first.text) or (first.source.strip(), first.text.strip()) != (second.text.strip(), second.source.strip()):
        return False
    moved, passed = (first.source or first.text).split(), source[first.end : second.start].split()
    return all(map(str.isalpha, (*moved, *passed))) and bool(moved) and 1 <= len(passed) <= _MOST_WORDS


def _joined(source: str, first: Edit, second: Edit) -> Edit:
    """One edit for two, without the space at which both begin."""
    old = source[first.start : second.end]
    new = first.text + source[first.end : second.start] + second.text
    space = 1 if old[:1] == new[:1] == " " else 0
    return first._replace(
        start=first.start + space,
        end=second.end,
        source=old[space:],
        text=new[space:],
        output=(first.output[0] + space, second.output[1]),
        score=None if first.score is None or second.score is None else first.score + second.score,
    )
