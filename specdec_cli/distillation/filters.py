"""Filters that drop faulty translations of a teacher from the training data."""

from dataclasses import dataclass

from specdec_cli.distillation.teacher import Translation

# Characters that separate lines or columns of the output.
_SEPARATORS = frozenset("\t\n\r\0")
_REPLACEMENT_CHARACTER = "\N{REPLACEMENT CHARACTER}"


@dataclass(frozen=True)
class Filters:
    """Conditions on which a translation is kept.

    It must have at most `maximum_ratio` times as many tokens as its source, or at most `short` tokens. It may equal its source
    only if `keep_copies` is set (for correction), or if the source has at most `copied_words` words.
    """

    maximum_ratio: float = 3.0
    short: int = 10
    keep_copies: bool = False
    copied_words: int = 3


def reason_to_drop(source: str, translation: Translation, filters: Filters) -> str | None:
    """The reason for dropping `translation` of `source`, as a label for counting; None if it is kept.

    Beside the conditions of `filters`, the translation must be finished and not blank, and have no tab, line break or NUL.
    """
    text = translation.text
    if translation.tokens == 0:
        return "source too long"
    if not translation.finished:
        return "no end within the maximum length"
    if not text.strip():
        return "empty output"
    if _SEPARATORS & set(text):
        return "tab, line break or NUL in the output"
    if _REPLACEMENT_CHARACTER in text and _REPLACEMENT_CHARACTER not in source:
        return "broken characters in the output"
    if translation.tokens > max(filters.short, filters.maximum_ratio * translation.source_tokens):
        return "runaway length"
    if not filters.keep_copies and text.strip() == source.strip() and len(source.split()) > filters.copied_words:
        return "copy of the source"
    return None
