"""The work of `specdec corrupt`: the pairs of each chunk of lines, their output, and the counts of their errors."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import chain
from pathlib import Path

import lemminflect  # noqa: F401  # without it, errors of grammar would be left out
from rich.console import Console
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from specdec_cli.console.options import ShardOptions
from specdec_cli.console.reports import progress_bar, tell_of_keyboard
from specdec_cli.corruption.corrupter import KINDS, CorruptionRecipe
from specdec_cli.corruption.run import ERRORS, Chunk, Plan, corrupt_lines, text_column
from specdec_cli.files import check_target, write_atomically
from specdec_cli.processors import usable_processors
from specdec_cli.recipe import find_recipe, load_recipe
from specdec_cli.text.io.lines import STDIO, read_lines
from specdec_cli.text.io.writing import LineWriter, check_not_input, compressed


def plan_of(recipe: str, changes: Sequence[str], seed: int, copies: int) -> Plan:
    """The plan of a recipe, with `changes` of its settings. Raises UsageError."""
    return Plan(load_recipe(CorruptionRecipe, find_recipe(recipe), changes), seed, copies)


def corrupt_files(
    plan: Plan,
    inputs: Sequence[Path],
    column: int | None,
    output: Path | None,
    processes: int | None,
    cluster: ShardOptions,
    *,
    quiet: bool,
) -> Counter[str]:
    """Write the pairs of the lines in `inputs` to `output`, here or on a cluster, and return their counts.

    Raises UsageError, InputError and OSError.
    """
    if cluster.ray is not None:
        from specdec_cli.work.cluster import corrupt_on_cluster  # a run without a cluster starts sooner

        return corrupt_on_cluster(plan, column, inputs, output, cluster, quiet=quiet)
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
    return counts


def _counted(chunks: Iterable[Chunk], counts: Counter[str], report: Callable[..., None]) -> Iterator[Chunk]:
    for chunk in chunks:
        yield chunk
        counts.update(chunk.counts)
        report(completed=counts["lines"])


def _write_stdout(chunks: Iterable[Chunk]) -> None:
    with LineWriter() as writer:
        for corrupted, clean in chain.from_iterable(chunk.pairs for chunk in chunks):
            writer.write(f"{corrupted}\t{clean}")


def _write_file(chunks: Iterable[Chunk], path: Path) -> None:
    def write(partial: Path) -> None:
        with compressed(partial, path.suffix) as stream:
            for chunk in chunks:
                stream.write("".join(f"{corrupted}\t{clean}\n" for corrupted, clean in chunk.pairs).encode("utf-8"))

    write_atomically(path, write)


def _progress(quiet: bool) -> AbstractContextManager[Callable[..., None]]:
    """Show the number of lines on a terminal."""
    return progress_bar(quiet, SpinnerColumn(), TextColumn("{task.completed:,} lines"), TimeElapsedColumn())


def print_counts(counts: Counter[str]) -> None:
    """Print the numbers of the errors of each kind, and those of lines, pairs and words, as a table on stderr."""
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
