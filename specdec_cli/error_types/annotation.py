"""Edits with the types of the errors that they correct."""

from collections.abc import Sequence

from specdec_cli.error_types.moves import with_moves
from specdec_cli.error_types.rules import error_type
from specdec_cli.error_types.tagging import Word, tagged, tagged_roughly
from specdec_cli.error_types.tokens import TokenSpan, token_spans, tokenized
from specdec_cli.text.edits import Edit, apply_edits


def with_types(source: str, edits: Sequence[Edit], *, english: bool = True, tags: Sequence[int] = ()) -> list[Edit]:
    """Return `edits` of the text `source`, in order, with their types; a move of a word is one edit (see `with_moves`, also for `tags`).

    For another language than English, these are PUNCT, ORTH, WO and OTHER only.
    """
    edits = with_moves(source, edits, tags)
    before, after = tokenized(source), tokenized(apply_edits(source, edits))
    tag = tagged if english else tagged_roughly
    old, new = tag([token.text for token in before]), tag([token.text for token in after])
    spans = token_spans(before, after, edits)
    return [edit._replace(types=_types(old, new, span)) for edit, span in zip(edits, spans, strict=True)]


def _types(old: Sequence[Word], new: Sequence[Word], span: TokenSpan) -> tuple[str, ...]:
    """The type of an edit; those of its words if it has none of its own and as many words before as after."""
    sides = old[span.start : span.end], new[span.first : span.last]
    found = error_type(*sides)
    if found != "R:OTHER" or len(sides[0]) != len(sides[1]):
        return (found,)
    return tuple(dict.fromkeys(error_type([one], [other]) for one, other in zip(*sides, strict=True) if one.text != other.text))
