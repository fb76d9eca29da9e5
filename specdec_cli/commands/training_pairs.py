"""The file of training pairs that `specdec prepare` writes."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from specdec_cli.errors import InputError, UsageError
from specdec_cli.files import write_atomically
from specdec_cli.text.corpus.augmentation import Variation, repeated, repetitions, with_copies
from specdec_cli.text.corpus.cleaning import CleaningReport
from specdec_cli.text.corpus.parallel import Pair, read_tsv


def write_pairs(pairs: Iterable[Pair], train: Path, report: CleaningReport) -> None:
    """Write TSV, with a domain column if the first pair has a domain, and count the lines in `report.written`.

    Raises InputError if no pair was kept, or if a domain comes after pairs without one; OSError.
    """
    write_atomically(train, lambda partial: _write(pairs, partial, report))


def vary_and_mix(train: Path, report: CleaningReport, share: float, copies: int, temperature: float, languages: tuple[str, str]) -> None:
    """Give other numbers and names to a share of the pairs of a file, add copies with other numbers and times, and mix its domains by a
    temperature, in place.

    A share of 0, 0 copies and a temperature of 1 change nothing. Counts the pairs changed and added in `report.varied` and
    `report.copied`. Raises UsageError for a temperature above 1 without domains; OSError.
    """
    if share:
        vary = Variation(read_tsv(train), share, languages=languages)
        write_pairs(map(vary, read_tsv(train)), train, report)
        report.varied = vary.varied
    if copies:
        pairs = report.written
        write_pairs(with_copies(read_tsv(train), copies, languages), train, report)
        report.copied = report.written - pairs
    if temperature > 1:
        write_pairs(repeated(read_tsv(train), _repetitions(train, temperature)), train, report)


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
