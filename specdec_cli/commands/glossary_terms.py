"""Output of `specdec translate` about the terms of a glossary: counts, JSON fields and warnings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from specdec_cli.text.glossary import Term

Outcome = Sequence[tuple[Term, bool]]
"""Terms of a line, each with whether the translation has it."""


@dataclass
class TermTotals:
    """Counts over all lines: occurrences of terms in the input, and those whose target is in the output."""

    terms: int = 0
    found: int = 0

    def add(self, outcome: Outcome) -> None:
        """Count the terms of a line."""
        self.terms += len(outcome)
        self.found += sum(found for _, found in outcome)

    def in_words(self) -> str:
        """One line for --stats."""
        return f"{self.terms:,}, of which the output has {self.found:,}"


def term_fields(outcome: Outcome) -> dict[str, Any]:
    """The fields of --json about the terms of a line."""
    return {"terms": [{"source": term.source, "target": term.target, "found": found} for term, found in outcome]}


def term_warnings(outcome: Outcome) -> list[str]:
    """A message for each term that the translation lacks."""
    lacking = dict.fromkeys(term for term, found in outcome if not found)
    return [f"the translation lacks {term.target!r} for the term {term.source!r}" for term in lacking]
