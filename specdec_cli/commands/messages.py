"""Messages of a command on stderr."""

import typer

from specdec_cli.opening.models import Tell, silent


def say(message: str) -> None:
    """Print `message` on stderr, after the name of the program."""
    typer.echo(f"specdec: {message}", err=True)


def teller(quiet: bool) -> Tell:
    """The function that prints a message on stderr; with `quiet`, it prints nothing."""
    return silent if quiet else say
