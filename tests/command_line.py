"""Runs `specdec` in the process of a test."""

from typer.testing import CliRunner, Result

from specdec_cli.app import app


def run(*arguments: object, text: str | bytes | None = None) -> Result:
    """What a command writes to its streams, with `text` on its standard input."""
    return CliRunner().invoke(app, list(map(str, arguments)), input=text)


def done(result: Result) -> Result:
    """The result of a command that has exit code 0."""
    assert result.exit_code == 0, result.output
    return result
