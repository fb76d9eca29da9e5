"""`specdec corrupt`: pairs of a corrupted and a clean line from clean text."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from specdec_cli.console.options import OutputOption, QuietOption, SeedOption, ShardOptions, machine_option, output_option, with_groups
from specdec_cli.errors import UsageError
from specdec_cli.text.io.lines import STDIO

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
    if cluster.ray is not None and processes is not None:
        raise UsageError("--processes is for runs without --ray; --workers is the number of workers of a cluster")
    if cluster.ray is not None and output in (None, STDIO):
        raise UsageError("--ray writes a file, so that a stopped run can be resumed: give --output")
    from specdec_cli.work.corrupting import corrupt_files, plan_of, print_counts

    plan = plan_of(recipe, changes or (), seed, copies)
    counts = corrupt_files(plan, files or [], column, output, processes, cluster, quiet=quiet)
    if not quiet:
        print_counts(counts)
