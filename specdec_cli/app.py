"""The command line program: the list of commands, the options of the program itself, and `main`."""

import atexit
import gc
import os
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from specdec_cli.brief_help import help_text, shortened, with_help_all
from specdec_cli.failures import exit_codes
from specdec_cli.process import Ending, prepare_streams
from specdec_cli.version import __version__

COMMANDS = {
    "translate": "translate",
    "correct": "correct",
    "serve": "serve",
    "bench": "bench",
    "prepare": "prepare",
    "train-verifier": "train_verifier",
    "train-drafter": "train_drafter",
    "distill": "distill",
    "corrupt": "corrupt",
    "convert": "convert",
    "visualize": "visualize",
    "models": "models",
}
"""The module in commands/ of each command, in the order of the help; its function has the name of the command."""


@contextmanager
def _shorter_messages() -> Iterator[None]:
    """Remove the prefix "Value error" of typer from messages on arguments."""
    try:
        yield
    except typer.BadParameter as error:
        error.message = error.message.removeprefix("Value error, ")
        raise


class _Command(TyperCommand):
    """A command with a short help and `--help-all`, whose help shows no type for flags."""

    def get_params(self, *arguments: Any) -> Any:
        return _without_types_of_flags(super().get_params(*arguments))

    def format_help(self, context: Any, formatter: Any) -> None:
        """Write the short help, or after `--help-all` that of every option."""
        with shortened(self, context):
            super().format_help(context, formatter)

    def parse_args(self, context: Any, arguments: list[str]) -> Any:
        """Parse `arguments`. `--ray` without an address gets its default value."""
        if "--ray" in arguments:
            from specdec_cli.console.options import with_ray_address

            arguments = with_ray_address(arguments)
        with _shorter_messages():
            return super().parse_args(context, arguments)


class _Imported(MutableMapping[str, Any]):
    """The commands by name, besides COMMANDS those of `registered`. A command of COMMANDS is imported when it is read."""

    def __init__(self, registered: Mapping[str, Any]) -> None:
        self._known: dict[str, Any] = dict.fromkeys(COMMANDS) | dict(registered)

    def __getitem__(self, name: str) -> Any:
        if self._known[name] is None:
            self._known[name] = _read_command(name)
        return self._known[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._known[name] = command

    def __delitem__(self, name: str) -> None:
        del self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


def _read_command(name: str) -> Any:
    """Import the command `name` of COMMANDS."""
    function = getattr(import_module(f"specdec_cli.commands.{COMMANDS[name]}"), name.replace("-", "_"))
    alone = typer.Typer(add_completion=False)
    alone.command(name, cls=_Command, help=help_text(name, function.__doc__ or ""))(with_help_all(function))
    return get_command(alone)


class _Commands(TyperGroup):
    """A group of commands that imports only those that it needs, and turns exceptions into messages and exit codes."""

    def __init__(self, *, commands: Any = None, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = _Imported(commands or {})

    def get_params(self, *arguments: Any) -> Any:
        return _without_types_of_flags(super().get_params(*arguments))

    def parse_args(self, context: Any, arguments: list[str]) -> Any:
        """Read `help COMMAND` as `COMMAND --help`, and `--show-completion` without a value as that of the current shell."""
        if arguments[:1] == ["help"]:
            arguments = [*arguments[1:2], "--help"]
        elif arguments == ["--show-completion"]:
            arguments = [*arguments, Path(os.environ.get("SHELL", "bash")).name]
        with _shorter_messages():
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


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="specdec help COMMAND, or specdec COMMAND --help, describes a command; --help-all shows every option.",
)


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
