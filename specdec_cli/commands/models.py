"""`specdec models`: the list of bundles."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from specdec_cli.commands.reports import say
from specdec_cli.errors import UsageError, counted
from specdec_cli.files import cache_folder
from specdec_cli.measurement_cache import forget_measurements
from specdec_cli.opening.models import SHIPPED, TRAINING_FILES, ModelChoice, cached_bundles, find_bundle, models_folder, shipped_bundles

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
) -> None:
    """List bundles with task, languages, decoding and size: the shipped ones, and converted ones in the cache."""
    if forget:
        if names:
            raise UsageError("--forget deletes measurements of all bundles; give no BUNDLE with it")
        typer.echo(f"{counted(forget_measurements(), 'file')} deleted in {cache_folder()}", err=True)
        return

    from rich.console import Console
    from rich.table import Column, Table

    from specdec_cli.model.bundle_info import read_info

    # In a narrow terminal, long words continue on the next line instead of being cut off.
    columns = [Column(name, overflow="fold") for name in ("task", "languages", "decoding", "block size", "MB", "licence")]
    table = Table(Column("bundle", no_wrap=True), *columns, box=None, header_style="bold")
    cached = [] if names else list(cached_bundles())
    for name in names or [*shipped_bundles(), *map(str, cached)]:
        folder = find_bundle(ModelChoice(name, offline=True), say)
        info = read_info(folder)
        languages = f"{info.source_language} to {info.target_language}"
        shown = name if names else Path(name).name
        size = f"{_megabytes(folder):.1f}"
        table.add_row(shown, info.task, languages, info.decoding, str(info.block_size or "-"), size, info.licence or "-")
    # A pipe has no width: what reads it gets whole words.
    Console(width=None if sys.stdout.isatty() else _WIDEST).print(table)
    if not names and not shipped_bundles():
        typer.echo(f"no bundles in {SHIPPED}", err=True)
    if cached:
        typer.echo(f"{len(cached)} converted from other toolkits' models, in {models_folder()}", err=True)


def _megabytes(folder: Path) -> float:
    """The size of a bundle's files, in units of 1,000,000 bytes."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and path.name not in TRAINING_FILES) / 1e6
