"""Cleaning of parallel text: rules, normalisation, and pairs that are held out."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path

from specdec_cli.errors import InputError
from specdec_cli.text.corpus.parallel import Pair, apply_gold_edits, read_m2
from specdec_cli.text.edits import Edit, apply_edits
from specdec_cli.text.io.lines import read_text_lines
from specdec_cli.text.locale.languages import Convention, convention
from specdec_cli.text.locale.matching import Matching, same_numbers
from specdec_cli.text.locale.quantities import UNIT, Languages, Quantity, find_quantities


class HeldOut:
    """The set of the sentences in `files`, compared without case, punctuation and spaces.

    The files are plain text, TSV (of three columns, the first is a domain) or M2 (named `*.m2`); source and target sentences are
    both in the set, of M2 the corrections of every annotator. Raises InputError for a file that cannot be read.
    """

    def __init__(self, files: Iterable[Path]) -> None:
        self._digests = {_line_digest(text) for path in files for text in _sentences(path)}
        self._digests.discard(_line_digest(""))

    def holds(self, pair: Pair) -> bool:
        """Whether the source or the target of `pair` is in the set."""
        return bool(self._digests) and (_line_digest(pair.source) in self._digests or _line_digest(pair.target) in self._digests)


def _sentences(path: Path) -> Iterator[str]:
    if path.suffix == ".m2":
        yield from _annotated(path)
        return
    for line in read_text_lines(path):
        fields = line.split("\t")
        yield from fields[1:] if len(fields) == 3 else fields


def _annotated(path: Path) -> Iterator[str]:
    """The sentences of an M2 file, and each as every annotator corrected it."""
    for sentence in read_m2(path):
        yield " ".join(sentence.source)
        for edits in sentence.annotators.values():
            try:
                yield " ".join(apply_gold_edits(sentence.source, edits))
            except ValueError as error:
                raise InputError(f"{path}: {' '.join(sentence.source)}: {error}") from error


def _line_digest(text: str) -> bytes:
    """A 16-byte hash of the letters and digits of `text`, without case."""
    compared = "".join(filter(str.isalnum, text.casefold()))
    return hashlib.blake2b(compared.encode(), digest_size=16).digest()


@dataclass(frozen=True)
class CleaningRules:
    """Rules that a pair of training sentences must satisfy to be kept. All lengths are in characters.

    Pairs are kept if their domain matches a pattern of `domains` (such as "wiki-*"; empty: all), and if both lengths
    are from `minimum_length` to `maximum_length`. If the longer side has more than `short` characters, it may be at
    most `maximum_ratio` times as long as the other. With `same_numbers`, both sides must have the same numbers.
    `detokenize` and `normalize_punctuation`, in this order, rewrite both sides before all checks but that of the
    domain, by the rules of Moses for the `languages` (source, target). With `repair_numbers`, numbers and times that a
    target has as in its source are then written as its language does (see `repaired`).
    """

    domains: frozenset[str] = frozenset()
    minimum_length: int = 1
    maximum_length: int = 400
    maximum_ratio: float = 3.0
    short: int = 20
    same_numbers: bool = False
    repair_numbers: bool = False
    normalize_punctuation: bool = False
    detokenize: bool = False
    languages: tuple[str, str] = ("en", "de")


@dataclass
class CleaningReport:
    """The numbers of pairs that `clean` has read, kept, and dropped; `dropped` has the number for each reason, a short text.

    `repaired` and `varied` are the numbers of those kept that `prepare --repair-numbers` and `--vary` have changed, `copied` and
    `names_copied` those of the copies of `--number-copies` and `--name-copies`, `written` that of the lines that `prepare` has written:
    `prepare --temperature` repeats pairs.
    """

    read: int = 0
    kept: int = 0
    repaired: int = 0
    varied: int = 0
    copied: int = 0
    names_copied: int = 0
    written: int = 0
    dropped: Counter[str] = field(default_factory=Counter)


def clean(pairs: Iterable[Pair], rules: CleaningRules, report: CleaningReport, held_out: HeldOut | None = None) -> Iterator[Pair]:
    """Yield the pairs that satisfy `rules`, with both sides stripped and rewritten, in order and without duplicates.

    Pairs with a side in `held_out` are dropped too (None: no such check). All pairs are counted in `report`, which
    is changed in place.
    """
    rewrite_source, rewrite_target = (_rewriter(language, rules) for language in rules.languages)
    seen: set[bytes] = set()
    for pair in pairs:
        report.read += 1
        if rules.domains and not any(fnmatchcase(pair.domain, pattern) for pattern in rules.domains):
            report.dropped["domain not chosen" if pair.domain else "line without a domain"] += 1
            continue
        pair = Pair(rewrite_source(pair.source), rewrite_target(pair.target), pair.domain)
        is_repaired = False
        if rules.repair_numbers:
            target = repaired(pair.source, pair.target, rules.languages)
            pair, is_repaired = replace(pair, target=target), target != pair.target
        reason, key = _reason_to_drop(pair, rules), _digest(pair)
        if reason is None and key in seen:
            reason = "duplicate"
        if reason is None and held_out is not None and held_out.holds(pair):
            reason = "held out"
        if reason is not None:
            report.dropped[reason] += 1
            continue
        seen.add(key)
        report.kept += 1
        report.repaired += is_repaired
        yield pair


def _digest(pair: Pair) -> bytes:
    """A 16-byte hash of a pair: millions of them fit in memory, and collisions are negligible."""
    return hashlib.blake2b(f"{pair.source}\n{pair.target}".encode(), digest_size=16).digest()


def _reason_to_drop(pair: Pair, rules: CleaningRules) -> str | None:
    source, target = len(pair.source), len(pair.target)
    if min(source, target) < rules.minimum_length:
        return "empty or too short"
    if max(source, target) > rules.maximum_length:
        return "too long"
    if max(source, target) > rules.short and max(source, target) > rules.maximum_ratio * min(source, target):
        return "length ratio"
    if "\0" in pair.source or "\0" in pair.target:
        return "NUL byte"
    if "\t" in pair.source or "\t" in pair.target:
        return "tab inside"
    if rules.same_numbers and not same_numbers(pair.source, pair.target, rules.languages):
        return "other numbers"
    return None


def _rewriter(language: str, rules: CleaningRules) -> Callable[[str], str]:
    steps: list[Callable[[str], str]] = [str.strip]
    if rules.detokenize:
        from sacremoses import MosesDetokenizer

        detokenizer = MosesDetokenizer(lang=language)  # type: ignore[no-untyped-call]
        steps.append(lambda text: str(detokenizer.detokenize(text.split(" "))))  # type: ignore[no-untyped-call]
    if rules.normalize_punctuation:
        from sacremoses import MosesPunctNormalizer

        steps.append(MosesPunctNormalizer(lang=language).normalize)  # type: ignore[no-untyped-call]

    def rewrite(text: str) -> str:
        for step in steps:
            text = step(text)
        return text

    return rewrite


def repaired(source: str, target: str, languages: Languages) -> str:
    """Return `target`, a translation of `source` that a person wrote, with its numbers in the form of the target language where they were
    left in the form of the source. Times with a.m. or p.m. change likewise if the target language has a clock of 24 hours.

    Numbers that differ otherwise stay, and so do labels, signs of currencies, decimals without a unit, which may be versions, and
    numbers with three digits after a point, which may be thousands or decimals.
    """
    own, wanted = convention(languages[1]), find_quantities(source, languages[0])
    if not wanted or own is None or languages[0] == languages[1]:
        return target
    matching = Matching(target, languages[1])
    matching.match(wanted)
    changes = [
        Edit(start, end, target[start:end], text)
        for start, end, quantity, text in sorted(matching.taken, key=lambda each: each[0])
        if _is_as_in_source(quantity, target[start:end], own)
        and (not quantity.fraction or UNIT.match(source, quantity.end) or UNIT.match(target, end))
    ]
    return apply_edits(target, changes)


def _is_as_in_source(quantity: Quantity, text: str, own: Convention) -> bool:
    """Whether the text of a quantity in a target is that of the source, or a time of the clock that the target language does not use."""
    if quantity.kind == "time":
        return own.clock == 24 and quantity.exact and quantity.text[-1:] in ".mM"
    return quantity.kind != "label" and text == quantity.text and not re.fullmatch(r"\d+\.\d{3}", text)
