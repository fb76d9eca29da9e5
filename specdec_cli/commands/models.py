"""`specdec models`: the list of bundles."""

import shlex
import sys
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Column, Table

from specdec_cli.console.reports import say
from specdec_cli.errors import UsageError, counted
from specdec_cli.files import cache_folder, json_text
from specdec_cli.measurement_cache import forget_measurements
from specdec_cli.opening import listing
from specdec_cli.opening.conversions import models_folder, superseded_bundles
from specdec_cli.opening.models import SHIPPED, shipped_bundles

_WIDEST = 1000
"""The width of the table in a pipe or file, in characters."""


def models(
    names: Annotated[list[str] | None, typer.Argument(metavar="BUNDLE", help="Bundles to describe.", show_default="all")] = None,
    forget: Annotated[
        bool,
        typer.Option(
            "--forget", help="Delete cached timings of this machine and indexes of translation memories; they are made again when needed."
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write a JSON object for each bundle, with its folder and its size in bytes.")
    ] = False,
) -> None:
    """List bundles with task, languages, decoding and size: the shipped ones, and converted ones in the cache."""
    if forget:
        if names or as_json:
            raise UsageError("--forget deletes measurements of all bundles; give nothing else with it")
        typer.echo(f"{counted(forget_measurements(), 'file')} deleted in {cache_folder()}", err=True)
        return

    found = listing.describe(names, say) if names else listing.models()
    if as_json:
        for each in found:
            typer.echo(json_text(each.to_json()))
        return
    _print_table(found)
    if not names and not shipped_bundles():
        typer.echo(f"no bundles in {SHIPPED}", err=True)
    converted = 0 if names else sum(not each.shipped for each in found)
    if converted:
        typer.echo(f"{converted} converted from other toolkits' models, in {models_folder()}", err=True)
    superseded = {} if names else {each.path: each.size for each in found if each.path in superseded_bundles()}
    if superseded:
        kept, size = counted(len(superseded), "conversion"), sum(superseded.values()) / 1e6
        folders = shlex.join(map(str, superseded))
        typer.echo(f"{kept} of an earlier version ({size:,.1f} MB), used by name alone; to remove: rm -r {folders}", err=True)


def _print_table(found: Sequence[listing.ListedModel]) -> None:
    """Print the models as a table; sizes are in units of 1,000,000 bytes."""
    # In a narrow terminal, long words continue on the next line instead of being cut off.
    columns = [Column(name, overflow="fold") for name in ("task", "languages", "decoding", "block size", "MB", "licence")]
    table = Table(Column("bundle", no_wrap=True), *columns, box=None, header_style="bold")
    for each in found:
        languages = f"{each.source_language} to {each.target_language}"
        size, decoding = f"{each.size / 1e6:.1f}", each.decoding + (f", drafts of {each.draft_model}" if each.draft_model else "")
        table.add_row(each.name, each.task, languages, decoding, str(each.block_size or "-"), size, each.licence or "-")
    # A pipe has no width: what reads it gets whole words.
    Console(width=None if sys.stdout.isatty() else _WIDEST).print(table)
