"""`specdec prepare`: cleaning of parallel text, its changes, and a vocabulary for it."""

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from specdec_cli.console.options import OptionGroup, with_groups
from specdec_cli.console.reports import print_table
from specdec_cli.errors import InputError, UsageError, counted
from specdec_cli.files import make_folder, naming, partial_folder, write_atomically, write_json
from specdec_cli.text.corpus.augmentation import Variation, repeated, repetitions, with_copies, with_other_quantities
from specdec_cli.text.corpus.cleaning import CleaningReport, CleaningRules, HeldOut, clean
from specdec_cli.text.corpus.names import with_other_names
from specdec_cli.text.corpus.parallel import Pair, read_pairs, read_tsv
from specdec_cli.text.io.writing import check_not_input
from specdec_cli.text.tokenize.sentencepiece import Subwords, train_subwords

_cleaning_option = partial(typer.Option, rich_help_panel="Cleaning")
FORMAT = 1
TRAIN = "train.tsv"
"""The file in the output folder that has the pairs."""
USUAL_SIZE = 8000
"""The default vocabulary size. The vocabulary becomes smaller if the text has fewer different subwords."""

_FLAGS: dict[str, Any] = {
    "source": typer.Option("--source", metavar="FILE", help="Source lines, beside or instead of TSV; with --target. Repeatable."),
    "target": typer.Option("--target", metavar="FILE", help="Target lines, one for each line of --source. Repeatable."),
    "vocabulary_size": typer.Option(
        "--vocabulary-size", metavar="N", min=300, help="Subwords to train.", show_default="8000, or as many as the text has"
    ),
    "tokenizer": typer.Option("--tokenizer", metavar="FILE", help="Use this vocabulary instead of training one."),
    "domain": _cleaning_option(
        "--domain", metavar="NAME", help="Keep this domain, or those of a pattern such as 'wiki-*'. Repeatable.", show_default="all"
    ),
    "min_characters": _cleaning_option("--min-characters", metavar="N", min=1, help="Drop shorter lines."),
    "max_characters": _cleaning_option("--max-characters", metavar="N", min=1, help="Drop longer lines."),
    "max_ratio": _cleaning_option(
        "--max-ratio",
        metavar="X",
        min=1.0,
        help="Drop pairs whose longer line has more than 20 characters and more than X times those of the shorter.",
    ),
    "same_numbers": _cleaning_option("--same-numbers", help="Drop pairs whose sides have different numbers."),
    "repair_numbers": _cleaning_option(
        "--repair-numbers",
        help="Write numbers and times that targets have as their sources in the way of the target language: 2.350 for 2,350.",
    ),
    "held_out": _cleaning_option(
        "--held-out",
        metavar="FILE",
        help="Drop pairs with a sentence of this dev or test set, in TSV, M2 (*.m2) or plain text. Repeatable.",
        show_default=False,
    ),
    "vary": typer.Option(
        "--vary",
        metavar="SHARE",
        min=0.0,
        max=1.0,
        help="Replace the numbers and times of this share of pairs by random ones, and the names by rare ones of the text.",
        show_default="0",
    ),
    "number_copies": typer.Option(
        "--number-copies",
        metavar="N",
        min=0,
        max=100,
        help="Add up to N copies of each pair with the same numbers or times on both sides, with other ones.",
        show_default="0",
    ),
    "name_copies": typer.Option(
        "--name-copies",
        metavar="N",
        min=0,
        max=100,
        help="Add up to N copies of each pair with the same names of people on both sides, with other ones.",
        show_default="0",
    ),
    "temperature": typer.Option(
        "--temperature",
        metavar="T",
        min=1.0,
        help="Repeat the pairs of small domains, so that the share of a domain is proportional to its number of pairs to the power 1/T.",
        show_default="1: as they are",
    ),
    "normalize_punctuation": _cleaning_option("--normalize-punctuation", help="Normalise punctuation as Moses does."),
    "detokenize": _cleaning_option("--detokenize", help="Join tokenised text as Moses does."),
    "source_language": _cleaning_option("--source-language", metavar="CODE", help="For the rules of Moses, numbers and times."),
    "target_language": _cleaning_option("--target-language", metavar="CODE", help="For the rules of Moses, numbers and times."),
    "force": typer.Option("--force", help="Replace the output of an earlier run."),
}
"""The options of the command line that only prepare has, by the name of the field."""


@dataclass(frozen=True, kw_only=True)
class PrepareOptions(OptionGroup):
    """The options of prepare: input, vocabulary, rules of cleaning, and changes of the pairs, whose defaults change nothing."""

    own_flags = _FLAGS

    source: list[Path] | None = None
    target: list[Path] | None = None
    vocabulary_size: int | None = None
    tokenizer: Path | None = None
    domain: list[str] | None = None
    min_characters: int = 1
    max_characters: int = 400
    max_ratio: float = 3.0
    same_numbers: bool = False
    repair_numbers: bool = False
    held_out: list[Path] | None = None
    vary: float = 0.0
    number_copies: int = 0
    name_copies: int = 0
    temperature: float = 1.0
    normalize_punctuation: bool = False
    detokenize: bool = False
    source_language: str = "en"
    target_language: str = "de"
    force: bool = False
    quiet: bool = False

    @property
    def aligned(self) -> list[tuple[Path, Path]]:
        """The files of source lines, each with that of its target lines."""
        return list(zip(self.source or (), self.target or (), strict=True))

    @property
    def rules(self) -> CleaningRules:
        """The cleaning rules: which sentence pairs are kept, and how their text is rewritten."""
        return CleaningRules(
            domains=frozenset(self.domain or ()),
            minimum_length=self.min_characters,
            maximum_length=self.max_characters,
            maximum_ratio=self.max_ratio,
            same_numbers=self.same_numbers,
            repair_numbers=self.repair_numbers,
            normalize_punctuation=self.normalize_punctuation,
            detokenize=self.detokenize,
            languages=(self.source_language, self.target_language),
        )


@with_groups
def prepare(
    output: Annotated[Path, typer.Argument(metavar="OUTPUT", help="Folder for the result.", show_default=False)],
    tsv: Annotated[
        list[Path] | None, typer.Argument(metavar="TSV", help="Lines of source TAB target, or domain TAB source TAB target.")
    ] = None,
    *,
    asked: PrepareOptions,
) -> None:
    """Clean parallel text and train a vocabulary on it.

    OUTPUT/train.tsv has the pairs that are kept (with domains, if the input has them), OUTPUT/tokenizer.model the vocabulary,
    and OUTPUT/prepare.json the settings and counts. Files may be compressed (.gz, .xz).
    """
    if len(asked.source or ()) != len(asked.target or ()) or not (tsv or asked.source):
        raise UsageError("give TSV files, or as many --target as --source")
    if asked.tokenizer is not None and asked.vocabulary_size is not None:
        raise UsageError("--tokenizer and --vocabulary-size are alternatives; give one")
    if (output / "prepare.json").exists() and not asked.force:
        raise UsageError(f"{output}: contains prepared data; choose another folder, or --force to replace it")
    check_not_input(output / TRAIN, [*(tsv or ()), *(asked.source or ()), *(asked.target or ()), *(asked.held_out or ())])
    made = not output.exists()
    make_folder(output)
    try:
        report, pieces = _prepare(output, tsv or [], asked)
    finally:
        if made:
            with suppress(OSError):
                output.rmdir()  # only if empty, after an error
    if not asked.quiet:
        _print_report(report, pieces, output)
        if not asked.tokenizer and not asked.vocabulary_size and pieces < USUAL_SIZE:
            typer.echo(f"The text has only {counted(pieces, 'subword')}; --vocabulary-size gives a smaller vocabulary.", err=True)


def _prepare(output: Path, tsv: list[Path], asked: PrepareOptions) -> tuple[CleaningReport, int]:
    """Write the three files to `output` once all are complete, prepare.json last; return the report and the vocabulary size.

    Raises OSError, naming a file.
    """
    names = (TRAIN, "tokenizer.model", "prepare.json")
    given = b"" if asked.tokenizer is None else Subwords(asked.tokenizer).path.read_bytes()
    report = CleaningReport()
    with partial_folder(output / "prepare.json") as folder:
        train, model, manifest = (folder / name for name in names)
        with _busy("Cleaning", asked.quiet):
            pairs = clean(read_pairs(tsv, asked.aligned), asked.rules, report, HeldOut(asked.held_out or []))
            with naming(output / train.name, train):
                write_pairs(pairs, train, report)
                vary_and_mix(train, report, asked)
        if asked.tokenizer is not None:
            write_atomically(model, lambda partial: partial.write_bytes(given))
            subwords = Subwords(model)
        else:
            size = asked.vocabulary_size
            with _busy("Training the vocabulary", asked.quiet), _naming_option(size):
                subwords = train_subwords(_texts(train), model, size or USUAL_SIZE, exact=size is not None)
        write_json(manifest, _manifest(tsv, asked, report, len(subwords)))
        (output / "prepare.json").unlink(missing_ok=True)
        for path in (train, model, manifest):
            path.replace(output / path.name)
    return report, len(subwords)


@contextmanager
def _naming_option(size: int | None) -> Iterator[None]:
    """Name the option in the error for a vocabulary size that does not fit the text."""
    try:
        yield
    except InputError as error:
        raise InputError(f"--vocabulary-size {size}: {error}" if size else str(error)) from error


def _texts(train: Path) -> Iterator[str]:
    """Source and target of every pair, read from the file to save memory."""
    for pair in read_tsv(train):
        yield pair.source
        yield pair.target


def _manifest(tsv: Sequence[Path], asked: PrepareOptions, report: CleaningReport, pieces: int) -> dict[str, Any]:
    """The content of prepare.json; `pieces` is the size of the vocabulary."""
    return {
        "format": FORMAT,
        "tsv": [str(path) for path in tsv],
        "aligned": [[str(source), str(target)] for source, target in asked.aligned],
        "rules": asdict(asked.rules) | {"domains": sorted(asked.rules.domains)},
        "held_out": [str(path) for path in asked.held_out or ()],
        "tokenizer": None if asked.tokenizer is None else str(asked.tokenizer),
        "vocabulary_size": pieces,
        "temperature": asked.temperature,
        "repaired": report.repaired,
        "copied": {"copies": asked.number_copies, "pairs": report.copied},
        "names_copied": {"copies": asked.name_copies, "pairs": report.names_copied},
        "varied": {"share": asked.vary, "pairs": report.varied},
        "pairs": {"read": report.read, "kept": report.kept, "written": report.written, "dropped": dict(report.dropped.most_common())},
    }


def _busy(what: str, quiet: bool) -> AbstractContextManager[Any]:
    """Show a spinner on a terminal."""
    shown = not quiet and sys.stdout.isatty() and sys.stderr.isatty()
    return Console(stderr=True).status(what) if shown else nullcontext()


def _print_report(report: CleaningReport, pieces: int, output: Path) -> None:
    rows = [
        ("read", report.read),
        *((f"dropped: {reason}", count) for reason, count in report.dropped.most_common()),
        ("kept", report.kept),
    ]
    some = {
        "of those, numbers repaired": report.repaired,
        "of those, varied": report.varied,
        "copies with other numbers": report.copied,
        "copies with other names": report.names_copied,
    }
    rows += [(name, count) for name, count in some.items() if count]
    if report.written != report.kept + report.copied + report.names_copied:
        rows.append(("written, with repetitions", report.written))
    typer.echo(str(output / TRAIN), err=True)
    print_table(((name, f"{count:,}") for name, count in rows), "pairs")
    typer.echo(f"Vocabulary: {counted(pieces, 'subword')}", err=True)


def write_pairs(pairs: Iterable[Pair], train: Path, report: CleaningReport) -> None:
    """Write TSV, with a domain column if the first pair has a domain, and count the lines in `report.written`.

    Raises InputError if no pair was kept, or if a domain comes after pairs without one; OSError.
    """
    write_atomically(train, lambda partial: _write(pairs, partial, report))


def vary_and_mix(train: Path, report: CleaningReport, asked: PrepareOptions) -> None:
    """Change the pairs of a file in place: vary a share of them, add copies with other numbers, then of all these with other names, and mix
    the domains by a temperature.

    Counts the pairs changed and added in `report`. Raises UsageError for a temperature above 1 without domains; OSError.
    """
    languages = asked.rules.languages
    if asked.vary:
        vary = Variation(read_tsv(train), asked.vary, languages=languages)
        write_pairs(map(vary, read_tsv(train)), train, report)
        report.varied = vary.varied
    if asked.number_copies:
        change = partial(with_other_quantities, languages=languages)
        report.copied = _add_copies(train, report, asked.number_copies, change)
    if asked.name_copies:
        report.names_copied = _add_copies(train, report, asked.name_copies, with_other_names)
    if asked.temperature > 1:
        write_pairs(repeated(read_tsv(train), _repetitions(train, asked.temperature)), train, report)


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
        raise InputError(f"no pair was kept of {counted(report.read, 'pair')} ({', '.join(report.dropped) or 'the input is empty'})")


def _repetitions(train: Path, temperature: float) -> dict[str, float]:
    """How often each domain of `train` is to be read. Raises UsageError if it has no domains."""
    counts = Counter(pair.domain for pair in read_tsv(train))
    if "" in counts:
        raise UsageError("--temperature mixes domains; give lines of domain TAB source TAB target")
    return repetitions(counts, temperature)
