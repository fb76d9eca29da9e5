"""`specdec prepare`: cleaning of parallel text, its changes, and a vocabulary for it."""

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from specdec_cli.commands.options import QuietOption
from specdec_cli.errors import InputError, UsageError
from specdec_cli.files import make_folder, naming, partial_folder, write_atomically, write_json
from specdec_cli.text.corpus.augmentation import Variation, repeated, repetitions, with_copies, with_other_quantities
from specdec_cli.text.corpus.cleaning import CleaningReport, CleaningRules, HeldOut, clean
from specdec_cli.text.corpus.names import with_other_names
from specdec_cli.text.corpus.parallel import Pair, read_pairs, read_tsv

_cleaning_option = partial(typer.Option, rich_help_panel="Cleaning")

DomainOption = Annotated[
    list[str] | None,
    _cleaning_option(
        "--domain", metavar="NAME", help="Keep this domain, or those of a pattern such as 'wiki-*'. Repeatable.", show_default="all"
    ),
]
MinCharactersOption = Annotated[int, _cleaning_option("--min-characters", metavar="N", min=1, help="Drop shorter lines.")]
MaxCharactersOption = Annotated[int, _cleaning_option("--max-characters", metavar="N", min=1, help="Drop longer lines.")]
MaxRatioOption = Annotated[
    float,
    _cleaning_option(
        "--max-ratio",
        metavar="X",
        min=1.0,
        help="Drop pairs whose longer line has more than 20 characters and more than X times those of the shorter.",
    ),
]
NormalizeOption = Annotated[bool, _cleaning_option("--normalize-punctuation", help="Normalise punctuation as Moses does.")]
DetokenizeOption = Annotated[bool, _cleaning_option("--detokenize", help="Join tokenised text as Moses does.")]
SourceLanguageOption = Annotated[
    str, _cleaning_option("--source-language", metavar="CODE", help="For the rules of Moses, numbers and times.")
]
TargetLanguageOption = Annotated[
    str, _cleaning_option("--target-language", metavar="CODE", help="For the rules of Moses, numbers and times.")
]
SameNumbersOption = Annotated[bool, _cleaning_option("--same-numbers", help="Drop pairs whose sides have different numbers.")]
RepairNumbersOption = Annotated[
    bool,
    _cleaning_option(
        "--repair-numbers",
        help="Write numbers and times that targets have as their sources in the way of the target language: 2.350 for 2,350.",
    ),
]
NumberCopiesOption = Annotated[
    int,
    typer.Option(
        "--number-copies",
        metavar="N",
        min=0,
        max=100,
        help="Add up to N copies of each pair with the same numbers or times on both sides, with other ones.",
        show_default="0",
    ),
]
NameCopiesOption = Annotated[
    int,
    typer.Option(
        "--name-copies",
        metavar="N",
        min=0,
        max=100,
        help="Add up to N copies of each pair with the same names of people on both sides, with other ones.",
        show_default="0",
    ),
]
VaryOption = Annotated[
    float,
    typer.Option(
        "--vary",
        metavar="SHARE",
        min=0.0,
        max=1.0,
        help="Replace the numbers and times of this share of pairs by random ones, and the names by rare ones of the text.",
        show_default="0",
    ),
]
TemperatureOption = Annotated[
    float,
    typer.Option(
        "--temperature",
        metavar="T",
        min=1.0,
        help="Repeat the pairs of small domains, so that the share of a domain is proportional to its number of pairs to the power 1/T.",
        show_default="1: as they are",
    ),
]
HeldOutOption = Annotated[
    list[Path] | None,
    _cleaning_option(
        "--held-out",
        metavar="FILE",
        help="Drop pairs with a sentence of this dev or test set, in TSV, M2 (*.m2) or plain text. Repeatable.",
        show_default=False,
    ),
]


FORMAT = 1
USUAL_SIZE = 8000
"""The default size of a vocabulary, which is smaller if the text has fewer subwords."""
FilesOption = list[Path] | None


def prepare(
    output: Annotated[Path, typer.Argument(metavar="OUTPUT", help="Folder for the result.", show_default=False)],
    tsv: Annotated[FilesOption, typer.Argument(metavar="TSV", help="Lines of source TAB target, or domain TAB source TAB target.")] = None,
    source: Annotated[
        FilesOption, typer.Option("--source", metavar="FILE", help="Source lines, instead of TSV; with --target. Repeatable.")
    ] = None,
    target: Annotated[
        FilesOption, typer.Option("--target", metavar="FILE", help="Target lines, one for each line of --source. Repeatable.")
    ] = None,
    vocabulary_size: Annotated[
        int | None,
        typer.Option("--vocabulary-size", metavar="N", min=300, help="Subwords to train.", show_default="8000, or as many as the text has"),
    ] = None,
    tokenizer: Annotated[
        Path | None, typer.Option("--tokenizer", metavar="FILE", help="Use this vocabulary instead of training one.")
    ] = None,
    domain: DomainOption = None,
    min_characters: MinCharactersOption = 1,
    max_characters: MaxCharactersOption = 400,
    max_ratio: MaxRatioOption = 3.0,
    same_numbers: SameNumbersOption = False,
    repair_numbers: RepairNumbersOption = False,
    held_out: HeldOutOption = None,
    vary: VaryOption = 0.0,
    number_copies: NumberCopiesOption = 0,
    name_copies: NameCopiesOption = 0,
    temperature: TemperatureOption = 1.0,
    normalize_punctuation: NormalizeOption = False,
    detokenize: DetokenizeOption = False,
    source_language: SourceLanguageOption = "en",
    target_language: TargetLanguageOption = "de",
    force: Annotated[bool, typer.Option("--force", help="Replace the output of an earlier run.")] = False,
    quiet: QuietOption = False,
) -> None:
    """Clean parallel text and train a vocabulary on it.

    OUTPUT/train.tsv has the pairs that are kept (with domains, if the input has them), OUTPUT/tokenizer.model the vocabulary,
    and OUTPUT/prepare.json the settings and counts. Files may be compressed (.gz, .xz).
    """

    rules = CleaningRules(
        domains=frozenset(domain or ()),
        minimum_length=min_characters,
        maximum_length=max_characters,
        maximum_ratio=max_ratio,
        same_numbers=same_numbers,
        repair_numbers=repair_numbers,
        normalize_punctuation=normalize_punctuation,
        detokenize=detokenize,
        languages=(source_language, target_language),
    )
    if len(source or ()) != len(target or ()) or not (tsv or source):
        raise UsageError("give TSV files, or as many --target as --source")
    if tokenizer is not None and vocabulary_size is not None:
        raise UsageError("--tokenizer and --vocabulary-size are alternatives; give one")
    if (output / "prepare.json").exists() and not force:
        raise UsageError(f"{output}: contains prepared data; choose another folder, or --force to replace it")
    aligned = list(zip(source or (), target or (), strict=True))
    made = not output.exists()
    make_folder(output)
    try:
        vocabulary = tokenizer or vocabulary_size
        inputs = Inputs(tsv or [], aligned, rules, held_out or [], vocabulary, vary, number_copies, name_copies, temperature)
        report, pieces = _prepare(output, inputs, quiet)
    finally:
        if made:
            with suppress(OSError):
                output.rmdir()  # only if empty, after an error
    if not quiet:
        _print_report(report, pieces, output)
        if not tokenizer and not vocabulary_size and pieces < USUAL_SIZE:
            typer.echo(f"The text has only {pieces:,} subwords; --vocabulary-size gives a smaller vocabulary.", err=True)


@dataclass(frozen=True)
class Inputs:
    """The files that are prepared, and how. `vocabulary` is a file, a size, or None for the default size.

    `vary` is the share of pairs with other numbers and names, `number_copies` and `name_copies` are the numbers of copies of a pair with
    other numbers and times, and with other names, and domains are mixed by the `temperature`. Their defaults change nothing.
    """

    tsv: list[Path]
    aligned: list[tuple[Path, Path]]
    rules: CleaningRules
    held_out: list[Path]
    vocabulary: Path | int | None
    vary: float = 0.0
    number_copies: int = 0
    name_copies: int = 0
    temperature: float = 1.0


def _prepare(output: Path, inputs: Inputs, quiet: bool) -> tuple[CleaningReport, int]:
    """Write the three files to `output` once all are complete, prepare.json last; return the report and the vocabulary size.

    Raises OSError, naming a file.
    """
    from specdec_cli.text.tokenize.sentencepiece import Subwords, train_subwords

    names = ("train.tsv", "tokenizer.model", "prepare.json")
    vocabulary = inputs.vocabulary
    given = Subwords(vocabulary).path.read_bytes() if isinstance(vocabulary, Path) else b""
    report = CleaningReport()
    with partial_folder(output / "prepare.json") as folder:
        train, model, manifest = (folder / name for name in names)
        with _busy("Cleaning", quiet):
            pairs = clean(read_pairs(inputs.tsv, inputs.aligned), inputs.rules, report, HeldOut(inputs.held_out))
            with naming(output / train.name, train):
                write_pairs(pairs, train, report)
                vary_and_mix(train, report, inputs)
        if isinstance(vocabulary, Path):
            write_atomically(model, lambda partial: partial.write_bytes(given))
            subwords = Subwords(model)
        else:
            with _busy("Training the vocabulary", quiet), _naming_option(vocabulary):
                subwords = train_subwords(_texts(train), model, vocabulary or USUAL_SIZE, exact=vocabulary is not None)
        write_json(manifest, _manifest(inputs, report, len(subwords)))
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


def _manifest(inputs: Inputs, report: CleaningReport, pieces: int) -> dict[str, Any]:
    """The content of prepare.json; `pieces` is the size of the vocabulary."""
    return {
        "format": FORMAT,
        "tsv": [str(path) for path in inputs.tsv],
        "aligned": [[str(source), str(target)] for source, target in inputs.aligned],
        "rules": asdict(inputs.rules) | {"domains": sorted(inputs.rules.domains)},
        "held_out": [str(path) for path in inputs.held_out],
        "tokenizer": str(inputs.vocabulary) if isinstance(inputs.vocabulary, Path) else None,
        "vocabulary_size": pieces,
        "temperature": inputs.temperature,
        "repaired": report.repaired,
        "copied": {"copies": inputs.number_copies, "pairs": report.copied},
        "names_copied": {"copies": inputs.name_copies, "pairs": report.names_copied},
        "varied": {"share": inputs.vary, "pairs": report.varied},
        "pairs": {"read": report.read, "kept": report.kept, "written": report.written, "dropped": dict(report.dropped.most_common())},
    }


def _busy(what: str, quiet: bool) -> AbstractContextManager[Any]:
    """Show a spinner on a terminal."""
    from rich.console import Console

    shown = not quiet and sys.stdout.isatty() and sys.stderr.isatty()
    return Console(stderr=True).status(what) if shown else nullcontext()


def _print_report(report: CleaningReport, pieces: int, output: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("pairs", "")
    table.columns[1].justify = "right"
    table.add_row("read", f"{report.read:,}")
    for reason, count in report.dropped.most_common():
        table.add_row(f"dropped: {reason}", f"{count:,}")
    table.add_row("kept", f"{report.kept:,}")
    if report.repaired:
        table.add_row("of those, numbers repaired", f"{report.repaired:,}")
    if report.varied:
        table.add_row("of those, varied", f"{report.varied:,}")
    if report.copied:
        table.add_row("copies with other numbers", f"{report.copied:,}")
    if report.names_copied:
        table.add_row("copies with other names", f"{report.names_copied:,}")
    if report.written != report.kept + report.copied + report.names_copied:
        table.add_row("written, with repetitions", f"{report.written:,}")
    console = Console(stderr=True)
    console.print(str(output / "train.tsv"), markup=False, highlight=False, soft_wrap=True)
    console.print(table)
    console.print(f"Vocabulary: {pieces:,} subwords", highlight=False)


def write_pairs(pairs: Iterable[Pair], train: Path, report: CleaningReport) -> None:
    """Write TSV, with a domain column if the first pair has a domain, and count the lines in `report.written`.

    Raises InputError if no pair was kept, or if a domain comes after pairs without one; OSError.
    """
    write_atomically(train, lambda partial: _write(pairs, partial, report))


def vary_and_mix(train: Path, report: CleaningReport, inputs: Inputs) -> None:
    """Change the pairs of a file in place: vary a share of them, add copies with other numbers, then of all these with other names, and mix
    the domains by a temperature.

    Counts the pairs changed and added in `report`. Raises UsageError for a temperature above 1 without domains; OSError.
    """
    languages = inputs.rules.languages
    if inputs.vary:
        vary = Variation(read_tsv(train), inputs.vary, languages=languages)
        write_pairs(map(vary, read_tsv(train)), train, report)
        report.varied = vary.varied
    if inputs.number_copies:
        change = partial(with_other_quantities, languages=languages)
        report.copied = _add_copies(train, report, inputs.number_copies, change)
    if inputs.name_copies:
        report.names_copied = _add_copies(train, report, inputs.name_copies, with_other_names)
    if inputs.temperature > 1:
        write_pairs(repeated(read_tsv(train), _repetitions(train, inputs.temperature)), train, report)


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
