"""The command line: which commands there are, and which exit code each failure has."""

import atexit
import gc
import os
import select
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from specdec_cli import __version__
from specdec_cli.commands import (
    bench,
    convert,
    correct,
    corrupt,
    distill,
    models,
    prepare,
    train_drafter,
    train_verifier,
    translate,
    visualize,
)
from specdec_cli.errors import InputError, SpecdecError

# In the order of the help; the modules import torch and its like only when a command runs.
COMMANDS: tuple[tuple[str, Callable[..., None]], ...] = (
    ("translate", translate.translate),
    ("correct", correct.correct),
    ("bench", bench.bench),
    ("prepare", prepare.prepare),
    ("train-verifier", train_verifier.train_verifier),
    ("train-drafter", train_drafter.train_drafter),
    ("distill", distill.distill),
    ("corrupt", corrupt.corrupt),
    ("convert", convert.convert),
    ("visualize", visualize.visualize),
    ("models", models.models),
)


class _Command(TyperCommand):
    """A command whose help does not tell that a flag is a boolean."""

    def get_params(self, *arguments: Any) -> Any:
        return _without_types_of_flags(super().get_params(*arguments))


class _Commands(TyperGroup):
    """A group whose failures become messages and exit codes."""

    def get_params(self, *arguments: Any) -> Any:
        return _without_types_of_flags(super().get_params(*arguments))

    def make_context(self, *arguments: Any, **settings: Any) -> Any:
        with _exit_codes():
            return super().make_context(*arguments, **settings)

    def invoke(self, *arguments: Any, **settings: Any) -> Any:
        with _exit_codes():
            return super().invoke(*arguments, **settings)


def _without_types_of_flags(parameters: Any) -> Any:
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    return parameters


@contextmanager
def _exit_codes() -> Iterator[None]:
    """Turn what went wrong in a user's hands into a message on stderr and an exit code; leave the rest alone."""
    try:
        with _flushed_stdout():
            yield
    except SpecdecError as error:
        print(f"specdec: error: {error}", file=sys.stderr)
        raise typer.Exit(error.exit_code) from error
    except BrokenPipeError as error:
        if _reader_has_gone():
            raise typer.Exit(0) from error
        # Typer would end without a word.
        raise RuntimeError("a process at the other end of a pipe has ended") from error
    except OSError as error:
        if error.filename is None:
            raise
        print(f"specdec: error: {error.filename}: {error.strerror}", file=sys.stderr)
        raise typer.Exit(InputError.exit_code) from error
    except SystemExit as error:
        # So rich ends the program where a reader has gone.
        if isinstance(error.__context__, BrokenPipeError):
            raise typer.Exit(0) from error
        raise


def _reader_has_gone() -> bool:
    """Whether stdout is a pipe that nobody reads."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


@contextmanager
def _flushed_stdout() -> Iterator[None]:
    """Write out what stdout still holds. A reader that has closed the pipe has all that it wants: exit code 0."""
    try:
        yield
    finally:
        try:
            sys.stdout.flush()
        except OSError as error:
            # Else the interpreter would try once more at its exit, and complain.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            if isinstance(error, BrokenPipeError):
                raise typer.Exit(0) from error
            raise InputError(f"stdout: {error.strerror}") from error


def _unwrapped(text: str) -> str:
    """Paragraphs on one line each, for the terminal to wrap."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="specdec COMMAND --help tells about a command.",
)
for _name, _command in COMMANDS:
    app.command(_name, cls=_Command, help=_unwrapped(_command.__doc__ or ""))(_command)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"specdec {__version__}")
        raise typer.Exit


@app.callback()
def specdec(
    version: Annotated[bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")] = False,
) -> None:
    """Speculative decoding for sequence-to-sequence models: greedy decoding's output, in fewer steps."""


def main() -> None:
    """Run the command line; the entry point of the `specdec` script."""
    # What is left at the end goes with the process; to search all that torch is made of for cycles takes a quarter of a second.
    atexit.register(gc.freeze)
    # As an exception, so that half-written and temporary files go away and processes end; 143 as shells report it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    app(prog_name="specdec")
