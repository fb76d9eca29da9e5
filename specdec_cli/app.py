"""The command line program: the list of commands, the options of the program itself, and `main`."""

import atexit
import gc
import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand, TyperGroup

from specdec_cli import __version__
from specdec_cli.commands import (
    convert,
    correct,
    corrupt,
    distill,
    models,
    prepare,
    serve,
    train_drafter,
    train_verifier,
    translate,
    visualize,
)
from specdec_cli.commands.bench import command as bench
from specdec_cli.commands.cluster.options import with_ray_address
from specdec_cli.failures import exit_codes
from specdec_cli.signals import Ending
from specdec_cli.streams import prepare_streams

# In the order of the help. The modules import torch and other large libraries only when a command runs.
COMMANDS: tuple[tuple[str, Callable[..., None]], ...] = (
    ("translate", translate.translate),
    ("correct", correct.correct),
    ("serve", serve.serve),
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
    """A command whose help shows no type for flags."""

    def get_params(self, *arguments: Any) -> Any:
        return _without_types_of_flags(super().get_params(*arguments))

    def parse_args(self, context: Any, arguments: list[str]) -> Any:
        """Parse `arguments`. `--ray` without an address gets its default value; messages lose typer's prefix "Value error"."""
        try:
            return super().parse_args(context, with_ray_address(arguments))
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")
            raise


class _Commands(TyperGroup):
    """A group of commands that turns exceptions into messages and exit codes."""

    def get_params(self, *arguments: Any) -> Any:
        return _without_types_of_flags(super().get_params(*arguments))

    def parse_args(self, context: Any, arguments: list[str]) -> Any:
        """Read `help COMMAND` as `COMMAND --help`, and `--show-completion` without a value as that of the current shell."""
        if arguments[:1] == ["help"]:
            arguments = [*arguments[1:2], "--help"]
        elif arguments == ["--show-completion"]:
            arguments = [*arguments, Path(os.environ.get("SHELL", "bash")).name]
        return super().parse_args(context, arguments)

    def make_context(self, *arguments: Any, **settings: Any) -> Any:
        with exit_codes():
            return super().make_context(*arguments, **settings)

    def invoke(self, *arguments: Any, **settings: Any) -> Any:
        with exit_codes():
            return super().invoke(*arguments, **settings)


def _without_types_of_flags(parameters: Any) -> Any:
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    return parameters


def _unwrapped(text: str) -> str:
    """Join the lines of each paragraph, so that the help is wrapped to the width of the terminal."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="specdec help COMMAND, or specdec COMMAND --help, describes a command.",
)
for _name, _command in COMMANDS:
    app.command(_name, cls=_Command, help=_unwrapped(_command.__doc__ or ""))(_command)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"specdec {__version__}")
        raise typer.Exit


def _print_completion(shell: str | None) -> None:
    if shell is not None:
        from specdec_cli.completions import SHELLS, read_commands

        typer.echo(SHELLS[shell](read_commands(app)), nl=False)
        raise typer.Exit


@app.callback()
def specdec(
    version: Annotated[bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")] = False,
    show_completion: Annotated[
        Literal["bash", "zsh", "fish"] | None,
        typer.Option(
            "--show-completion",
            metavar="SHELL",
            callback=_print_completion,
            is_eager=True,
            help="Show the completions for bash, zsh or fish and exit.",
            show_default="the shell in use",
        ),
    ] = None,
) -> None:
    """Speculative decoding for sequence-to-sequence models: greedy decoding's output, in fewer steps."""


def main() -> None:
    """Run the command line with the process's arguments, and handlers of SIGINT and SIGTERM.

    Ends with SystemExit, whose code is 128 plus the signal's number after a signal.
    """
    # No garbage collection at exit: searching the objects of torch for cycles takes a quarter of a second.
    atexit.register(gc.freeze)
    prepare_streams()
    ending = Ending()
    ending.install()
    try:
        app(prog_name="specdec")
    except BaseException:
        if ending.signal is None:
            raise
        # After a signal, the exit code is that of the signal, even if another exception replaced that of the signal.
        ending.finish()
    finally:
        ending.over = True
