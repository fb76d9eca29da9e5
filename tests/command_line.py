"""Runs `specdec` in the process of a test."""

from collections.abc import Callable, Mapping

import typer
from typer.testing import CliRunner, Result

from specdec_cli.app import app

__all__ = ["Result", "done", "run", "run_function"]


def run(*arguments: object, text: str | bytes | None = None, env: Mapping[str, str] | None = None) -> Result:
    """What a command writes to its streams, with `text` on its standard input."""
    return CliRunner().invoke(app, list(map(str, arguments)), input=text, env=env)


def run_function(command: Callable[..., object], *arguments: object, text: str | bytes | None = None) -> Result:
    """The same of the function of a command: an error that ends it is the exception of the result."""
    alone = typer.Typer()
    alone.command()(command)
    return CliRunner().invoke(alone, list(map(str, arguments)), input=text)


def done(result: Result) -> Result:
    """The result of a command that has exit code 0."""
    assert result.exit_code == 0, result.output
    return result
