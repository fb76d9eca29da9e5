"""`specdec bench`: decodings compared on the same text."""

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, get_args

import typer

from specdec_cli.commands import options
from specdec_cli.commands.bench_worker import Inspection
from specdec_cli.commands.translate import AUTOMATIC_BATCH
from specdec_cli.errors import InputError, SpecdecError, UsageError
from specdec_cli.evaluation.examples import SAMPLE_LANGUAGES, Examples, read_files, read_sample, read_table
from specdec_cli.evaluation.rows import DEFAULT_ROWS, Row, Sweep, parse_row, parse_sweep, sweep_defaults, sweep_rows
from specdec_cli.text.lines import STANDARD

_WORKER = "specdec_cli.commands.bench_worker"
_DECODINGS = tuple(name for name in get_args(options.Decoding) if name != "auto")

_BENCH_PANEL = "What is compared"
