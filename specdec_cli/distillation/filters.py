"""Which of a teacher's translations are not worth learning from."""

from dataclasses import dataclass

from specdec_cli.distillation.teacher import Translation

# They would break a line or a column of the output in two.
_BREAKS = frozenset("\t\n\r\0")
_BROKEN_CHARACTER = "\N{REPLACEMENT CHARACTER}"


@dataclass(frozen=True)
class Filters:
    """Limits on a translation.

    It may have `maximum_ratio` times the source's tokens, or `short` tokens; it may be a copy of the source when
    `keep_copies` is set (a correction often is), or when the source has `copied_words` words or fewer.
    """

    maximum_ratio: float = 3.0
    short: int = 10
    keep_copies: bool = False
    copied_words: int = 3


def reason_to_drop(source: str, translation: Translation, filters: Filters) -> str | None:
    """Why `translation` of `source` is dropped, in a few words that a count goes with; None if it is kept."""
    text = translation.text
    if translation.tokens == 0:
        return "source too long"
    if not translation.finished:
        return "no end within the maximum length"
    if not text.strip():
        return "empty output"
    if _BREAKS & set(text):
        return "tab, line break or NUL in the output"
    if _BROKEN_CHARACTER in text and _BROKEN_CHARACTER not in source:
        return "broken characters in the output"
    if translation.tokens > max(filters.short, filters.maximum_ratio * translation.source_tokens):
        return "runaway length"
    if not filters.keep_copies and text.strip() == source.strip() and len(source.split()) > filters.copied_words:
        return "copy of the source"
    return None
