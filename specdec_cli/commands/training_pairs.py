"""The file of training pairs that `specdec prepare` writes."""

import random
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from specdec_cli.errors import InputError, UsageError
from specdec_cli.files import write_atomically
from specdec_cli.text.corpus.augmentation import Variation, repeated, repetitions, with_copies, with_other_quantities
from specdec_cli.text.corpus.cleaning import CleaningReport
from specdec_cli.text.corpus.names import with_other_names
from specdec_cli.text.corpus.parallel import Pair, read_tsv


def write_pairs(pairs: Iterable[Pair], train: Path, report: CleaningReport) -> None:
    """Write TSV, with a domain column if the first pair has a domain, and count the lines in `report.written`.

    Raises InputError if no pair was kept, or if a domain comes after pairs without one; OSError.
    """
    write_atomically(train, lambda partial: _write(pairs, partial, report))


@dataclass(frozen=True)
class Changes:
    """How pairs are changed; the defaults change nothing.

    `share` is that of pairs with other numbers and names, `number_copies` and `name_copies` the numbers of copies of a pair with other
    numbers and times, and with other names, and `temperature` that by which domains are mixed.
    """

    share: float = 0.0
    number_copies: int = 0
    name_copies: int = 0
    temperature: float = 1.0


def vary_and_mix(train: Path, report: CleaningReport, changes: Changes, languages: tuple[str, str]) -> None:
    """Change the pairs of a file in place: vary a share of them, add copies with other numbers, then of all these with other names, and mix
    the domains by a temperature.

    Counts the pairs changed and added in `report`. Raises UsageError for a temperature above 1 without domains; OSError.
    """
    if changes.share:
        vary = Variation(read_tsv(train), changes.share, languages=languages)
        write_pairs(map(vary, read_tsv(train)), train, report)
        report.varied = vary.varied
    if changes.number_copies:
        change = partial(with_other_quantities, languages=languages)
        report.copied = _add_copies(train, report, changes.number_copies, change)
    if changes.name_copies:
        report.names_copied = _add_copies(train, report, changes.name_copies, with_other_names)
    if changes.temperature > 1:
        write_pairs(repeated(read_tsv(train), _repetitions(train, changes.temperature)), train, report)


def _add_copies(train: Path, report: CleaningReport, count: int, change: Callable[[Pair, random.Random], Pair]) -> int:
    """Add up to `count` copies of each pair of a file; return how many were added."""
    pairs = report.written
    write_pairs(with_copies(read_tsv(train), count, change), train, report)
    return report.written - pairs


def _write(pairs: Iterable[Pair], path: Path, report: CleaningReport) -> None:
    with_domains = None
    report.written = 0
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for pair in pairs:
            if with_domains is None:
                with_domains = bool(pair.domain)
            if pair.domain and not with_domains:
                raise InputError(f"domain {pair.domain!r} comes after pairs without one; give input with domains first")
            fields = (pair.domain, pair.source, pair.target) if with_domains else (pair.source, pair.target)
            stream.write("\t".join(fields) + "\n")
            report.written += 1
    if not report.kept:
        raise InputError(f"all {report.read:,} pairs were dropped ({', '.join(report.dropped) or 'the input is empty'})")


def _repetitions(train: Path, temperature: float) -> dict[str, float]:
    """How often each domain of `train` is to be read. Raises UsageError if it has no domains."""
    counts = Counter(pair.domain for pair in read_tsv(train))
    if "" in counts:
        raise UsageError("--temperature mixes domains; give lines of domain TAB source TAB target")
    return repetitions(counts, temperature)
