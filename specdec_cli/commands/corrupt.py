"""`specdec corrupt`: pairs of a corrupted and a clean line from clean text."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specdec_cli.commands.options import OutputOption, QuietOption, SeedOption, ShardOptions, machine_option, output_option, with_groups
from specdec_cli.commands.reports import progress_bar, tell_of_keyboard
from specdec_cli.errors import UsageError
from specdec_cli.processors import usable_processors

if TYPE_CHECKING:
    from specdec_cli.corruption.run import Chunk

_errors_option = partial(typer.Option, rich_help_panel="Errors")

ColumnOption = Annotated[
    int | None,
    output_option("--column", metavar="N", min=1, help="Tab-separated column that is the text, from 1.", show_default="the last one"),
]
RecipeOption = Annotated[str, _errors_option("--recipe", metavar="NAME|TOML", help="A shipped recipe, or a file.")]
SetOption = Annotated[
    list[str] | None, _errors_option("--set", metavar="KEY=VALUE", help="Change the recipe, as in clean=0.5 or rates.tense=2. Repeatable.")
]
CopiesOption = Annotated[int, _errors_option("--copies", metavar="N", min=1, help="Pairs for each line, drawn independently.")]
ProcessesOption = Annotated[
    int | None,
    machine_option("--processes", metavar="N", min=1, help="Number of processes; it does not change the output.", show_default="all cores"),
]


@with_groups
def corrupt(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE", help="Correct text, one sentence per line, or TSV with such a column.", show_default="stdin"),
    ] = None,
    column: ColumnOption = None,
    recipe: RecipeOption = "en-gec-corrupt",
    changes: SetOption = None,
    copies: CopiesOption = 1,
    seed: SeedOption = 1,
    processes: ProcessesOption = None,
    output: OutputOption = None,
    quiet: QuietOption = False,
    *,
    cluster: ShardOptions,
) -> None:
    """Put artificial errors into correct text, to train a corrector.

    Writes lines of corrupted TAB correct text, in the order of the input, without blank lines. The errors are those of learners and
    careless writers of English; the recipe gives their number and kinds. The recipe zh-gec-corrupt is for Chinese. FILE and the
    output file may be compressed (.gz, .xz). The output file is created when it is complete.

    Needs the extra `gec` of the package. The misspellings are from codespell's dictionary, which derives from Wikipedia
    (CC BY-SA 3.0).
    """
    import lemminflect  # noqa: F401  # without it, errors of grammar would be left out

    from specdec_cli.corruption.corrupter import CorruptionRecipe
    from specdec_cli.corruption.run import Plan, corrupt_lines, text_column
    from specdec_cli.files import check_target
    from specdec_cli.recipe import find_recipe, load_recipe
    from specdec_cli.text.io.lines import STDIO, read_lines
    from specdec_cli.text.io.writing import check_not_input

    plan = Plan(load_recipe(CorruptionRecipe, find_recipe(recipe), changes or ()), seed, copies)
    if cluster.ray is not None:
        if processes is not None:
            raise UsageError("--processes is for runs without --ray; --workers is the number of workers of a cluster")
        from specdec_cli.commands.cluster import corrupt_on_cluster

        counts = corrupt_on_cluster(plan, column, files or [], output, cluster, quiet=quiet)
        if not quiet:
            _print_counts(counts)
        return
    inputs = files or []
    target = None if output == STDIO else output
    check_not_input(target, inputs)
    if target is not None:
        check_target(target)
    tell_of_keyboard(inputs, quiet=quiet)
    texts = (text_column(line, column) for line in read_lines(inputs))
    counts = Counter[str]()
    with _progress(quiet or target is None) as report:
        chunks = _counted(corrupt_lines(texts, plan, processes or usable_processors()), counts, report)
        _write_stdout(chunks) if target is None else _write_file(chunks, target)
    if not quiet:
        _print_counts(counts)


def _counted(chunks: "Iterable[Chunk]", counts: Counter[str], report: Callable[..., None]) -> "Iterator[Chunk]":
    for chunk in chunks:
        yield chunk
        counts.update(chunk.counts)
        report(completed=counts["lines"])


def _write_stdout(chunks: "Iterable[Chunk]") -> None:
    from specdec_cli.text.io.writing import LineWriter

    with LineWriter() as writer:
        for corrupted, clean in chain.from_iterable(chunk.pairs for chunk in chunks):
            writer.write(f"{corrupted}\t{clean}")


def _write_file(chunks: "Iterable[Chunk]", path: Path) -> None:
    from specdec_cli.files import write_atomically
    from specdec_cli.text.io.writing import compressed

    def write(partial: Path) -> None:
        with compressed(partial, path.suffix) as stream:
            for chunk in chunks:
                stream.write("".join(f"{corrupted}\t{clean}\n" for corrupted, clean in chunk.pairs).encode("utf-8"))

    write_atomically(path, write)


def _progress(quiet: bool) -> AbstractContextManager[Callable[..., None]]:
    """Show the number of lines on a terminal."""
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    return progress_bar(quiet, SpinnerColumn(), TextColumn("{task.completed:,} lines"), TimeElapsedColumn())


def _print_counts(counts: Counter[str]) -> None:
    from rich.console import Console
    from rich.table import Table

    from specdec_cli.corruption.corrupter import KINDS
    from specdec_cli.corruption.run import ERRORS

    by_kind = {kind: counts[f"{ERRORS}{kind}"] for kind in KINDS}
    errors, pairs = sum(by_kind.values()), max(counts["pairs"], 1)
    table = Table("errors", "", "")
    for column in table.columns[1:]:
        column.justify = "right"
    for kind, number in by_kind.items():
        if number:
            table.add_row(kind, f"{number:,}", f"{number / errors:.1%}")
    table.add_row("all", f"{errors:,}", "", style="bold")
    table.add_section()
    table.add_row("lines read", f"{counts['lines']:,}", "")
    if counts["blank"]:
        table.add_row("blank lines, left out", f"{counts['blank']:,}", "")
    table.add_row("pairs", f"{counts['pairs']:,}", "")
    table.add_row("clean pairs", f"{counts['clean']:,}", f"{counts['clean'] / pairs:.1%}")
    table.add_row("errors a pair", f"{errors / pairs:.2f}", "")
    table.add_row("errors in 100 words", f"{100 * errors / max(counts['words'], 1):.1f}", "")
    Console(stderr=True).print(table)
