"""Man pages: every option of every command is there, and groff has no complaint."""

import shutil
import subprocess
from typing import Any

import pytest
from typer.main import get_group

from specdec_cli.app import COMMANDS, app
from tools.man import man_pages

PAGES = man_pages()


def plain(name: str) -> str:
    """A page without the escapes of its characters."""
    return PAGES[name].replace("\\-", "-").replace("\\(aq", "'").replace("\\(ga", "`").replace("\\&", "")


def test_there_is_a_page_for_the_program_and_for_each_command() -> None:
    assert PAGES.keys() == {"specdec.1", *(f"specdec-{name}.1" for name in COMMANDS)}
    assert all(f"specdec {name}" in plain("specdec.1") for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_page_has_all_options_with_their_help(name: str) -> None:
    command: Any = get_group(app).commands[name]
    text = plain(f"specdec-{name}.1")
    for parameter in command.params:
        if parameter.param_type_name == "option":
            assert all(option in text for option in parameter.opts) and " ".join(parameter.help.split()) in text
        else:
            assert (parameter.metavar or parameter.name) in text
    assert "list[" not in text


@pytest.mark.parametrize("name", sorted(PAGES))
def test_groff_has_no_warnings(name: str) -> None:  # but of words that are longer than a line
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    drawn = subprocess.run(
        ["groff", "-ww", "-Wbreak", "-man", "-Tutf8", "-P-cbou"], input=PAGES[name].encode(), capture_output=True, check=True
    )
    assert drawn.stderr == b""
    assert "OPTIONS" in drawn.stdout.decode() and "EXIT STATUS" in drawn.stdout.decode()
