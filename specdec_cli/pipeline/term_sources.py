"""Sources in which terms are replaced, and what their outputs become."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from specdec_cli.text.glossary import Match, begins_sentence, capitalised
from specdec_cli.text.protect.stand_ins import PLACEHOLDERS, name_pattern, placeholder_names


@dataclass(frozen=True)
class ReplacedTerms:
    """A source in which each term is replaced by one of `names`; without names, by its target. `targets` are those of the
    terms. `leftover` matches what is left of a name that was not copied.
    """

    source: str
    names: tuple[str, ...]
    targets: tuple[str, ...]
    leftover: str = ""

    def restore(self, output: str) -> str | None:
        """Return `output` with the names that it has replaced by their targets; None if a name occurs several times, or as part of a
        word, or if something is left of one.
        """
        for name in self.names:
            if output.count(name) > 1 or (name in output and not re.search(name_pattern(name), output)):
                return None
        targets = zip(self.names, self.targets, strict=False)
        ordered = sorted((output.index(name), name, target) for name, target in targets if name in output)
        pieces, position = [], 0
        for start, name, target in ordered:
            pieces += [output[position:start], capitalised(target) if begins_sentence(output, start) else target]
            position = start + len(name)
            position += _shared_stop(target, output[position:])
        rest = output[position:]
        between = " ".join([*pieces[::2], rest])
        left = self.leftover and re.search(rf"(?<!\w){self.leftover}(?!\w)", between)
        return None if left else "".join([*pieces, rest])


def replaced_sources(source: str, matches: Sequence[Match]) -> Iterator[ReplacedTerms]:
    """Yield `source` with its terms replaced by their targets, and by each kind of placeholder that it does not have."""
    targets = tuple(match.term.target for match in matches)
    fitting = [capitalised(match.term.target) if match.initial else match.term.target for match in matches]
    yield ReplacedTerms(_replaced(source, matches, fitting), (), targets)
    for stem, first in PLACEHOLDERS:
        names = placeholder_names(stem, first, len(matches))
        if not any(name in source for name in names):
            leftover = rf"{re.escape(stem)}\d*" if stem else r"\d{4,}"
            known = re.search(rf"(?<!\w){leftover}(?!\w)", source)
            yield ReplacedTerms(_replaced(source, matches, names), names, targets, "" if known else leftover)


def _replaced(source: str, matches: Sequence[Match], names: Sequence[str]) -> str:
    pieces, position = [], 0
    for match, name in zip(matches, names, strict=True):
        pieces += [source[position : match.start], name]
        position = match.end + _shared_stop(name, source[match.end :])
    return "".join([*pieces, source[position:]])


def _shared_stop(target: str, following: str) -> int:
    """1 if the full stop that `target` ends with is also the one with which `following` begins, else 0."""
    return int(target.endswith(".") and following.startswith("."))
