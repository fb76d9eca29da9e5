"""Sources in which terms are replaced, or that are cut at them, to bring terms into their translations."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from specdec_cli.pipeline.variants import Variant, split_at_spans
from specdec_cli.text.edits import Edit, apply_edits, with_outputs
from specdec_cli.text.glossary import Match, begins_sentence, capitalised
from specdec_cli.text.protect.spans import protected_spans
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
        edits = list[Edit]()
        for start, name, target in sorted((output.index(name), name, target) for name, target in targets if name in output):
            end = start + len(name)
            shown = capitalised(target) if begins_sentence(output, start) else target
            edits.append(Edit(start, end + _shared_stop(target, output[end:]), name, shown))
        between = apply_edits(output, [each._replace(text=" ") for each in edits])
        left = self.leftover and re.search(rf"(?<!\w){self.leftover}(?!\w)", between)
        return None if left else apply_edits(output, edits)


def replaced_sources(source: str, matches: Sequence[Match]) -> Iterator[ReplacedTerms]:
    """Yield `source` with its terms replaced by their targets, and by each kind of placeholder that it does not have."""
    targets = tuple(match.term.target for match in matches)
    yield ReplacedTerms(_replaced(source, matches, _fitting(matches))[0], (), targets)
    for stem, first in PLACEHOLDERS:
        names = placeholder_names(stem, first, len(matches))
        if not any(name in source for name in names):
            leftover = rf"{re.escape(stem)}\d*" if stem else r"\d{4,}"
            known = re.search(rf"(?<!\w){leftover}(?!\w)", source)
            yield ReplacedTerms(_replaced(source, matches, names)[0], names, targets, "" if known else leftover)


def _fitting(matches: Sequence[Match]) -> list[str]:
    """The targets of terms as they are in their sentence."""
    return [capitalised(match.term.target) if match.initial else match.term.target for match in matches]


def _replaced(source: str, matches: Sequence[Match], names: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """The source with names in the place of terms, and where each is there."""
    pairs = zip(matches, names, strict=True)
    edits = with_outputs(Edit(each.start, each.end + _shared_stop(name, source[each.end :]), "", name) for each, name in pairs)
    return apply_edits(source, edits), [edit.output for edit in edits]


def _shared_stop(target: str, following: str) -> int:
    """1 if the full stop that `target` ends with is also the one with which `following` begins, else 0."""
    return int(target.endswith(".") and following.startswith("."))


def between_terms(source: str, matches: Sequence[Match]) -> Variant:
    """The texts of `source` between its terms, which become their targets."""
    replaced, spans = _replaced(source, matches, _fitting(matches))
    kept = [span for span in protected_spans(replaced) if not any(span[0] < end and start < span[1] for start, end in spans)]
    places = sorted([*spans, *kept])
    return split_at_spans(replaced, places, tuple(replaced[start:end] for start, end in places))
