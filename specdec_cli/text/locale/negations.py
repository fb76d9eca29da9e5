"""Negations of English sentences that their German translations lack."""

import re

from specdec_cli.text.locale.languages import short_code

_HELPERS = "is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|wo|ca"
_NOT_MEANT = re.compile(
    rf",? (?:{_HELPERS})n['\u2019]t (?:I|you|he|she|it|we|they|there)\?"  # ", isn't it?"
    rf"|^(?:{_HELPERS})n['\u2019]t\b|\bwhy (?:do|is|are|does)n['\u2019]t|\bwhy not"
    r"|\bn(?:ot only|othing but|o longer|o later|o doubt|o problem|o matter|o sooner|o more|o less|o fewer|ot until|ot at all)\b"
    r"|\b(?:if|or|whether or|cannot but) ?not\b|\bcannot but\b|\b(?:ca|could)n['\u2019]t (?:help|wait)"
    r"|\bdo(?:n['\u2019]t| not) (?:mind|hesitate)",
    re.IGNORECASE,
)
"""Negations that other languages express without one."""
_ENGLISH = re.compile(
    r"\b(?:not|never|nobody|nothing|none|nowhere|neither|cannot|without|disagree\w*|no one)\b|n['\u2019]t\b|\bno (?=[a-z]{3})",
    re.IGNORECASE,
)
_GERMAN = re.compile(
    r"\b(?:nicht\w*|nie|niemals|kein\w*|niemand\w*|nichts|nirgend\w*|weder|ohne\w*|nein|kaum|un\w{3,}|miss\w+|fehl\w*|falsch\w*|verboten"
    r"|vergessen|verhindern\w*|meid\w*|ablehn\w*|abgelehnt|\w+los\w{0,2}|au\u00dfer|anders|anderer|statt|bevor|sonst|gegen|dagegen)\b",
    re.IGNORECASE,
)
"""Negations, and words that often translate one."""


def loses_negation(source: str, output: str, languages: tuple[str, str]) -> bool:
    """Whether an English `source` has a negation, and its German `output` has none. Other `languages` are not checked."""
    if tuple(map(short_code, languages)) != ("en", "de"):
        return False
    return _ENGLISH.search(_NOT_MEANT.sub(" ", source)) is not None and _GERMAN.search(output) is None
