"""The generated parts of the pages are current, and links and numbers have sources."""

import re
from pathlib import Path

import pytest

from specdec_cli.decoding.methods import DECODINGS
from tools.docs import generated, generators
from tools.pages import ROOT, pages, regenerate

GENERATED = generated()
_MEASURED = re.compile(r"\d(?:\.\d+)?(?:x\b| (?:BLEU|chrF|GLEU|SARI|F0\.5|tokens/s|tokens per round|times (?:as )?fast))")
_GENERATED = re.compile("<!-- generated: .*?<!-- end of generated part -->", re.DOTALL)
_LINK = re.compile(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)")
_SECTION = re.compile(r"\]\((?!https?:)([^)#]*)#([^)]+)\)")


@pytest.mark.parametrize("path", GENERATED, ids=lambda path: path.name)
def test_generated_parts_are_current(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == GENERATED[path], "run `make docs`"


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_measured_numbers_come_from_stored_results(page: Path) -> None:
    assert _MEASURED.findall(_GENERATED.sub("", page.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_links_have_existing_targets(page: Path) -> None:
    links = _LINK.findall(page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def _sections(page: Path) -> set[str]:
    """The names of the headings of a page, as links to them have them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_links_to_sections_have_existing_headings(page: Path) -> None:
    links = [(page.parent / name if name else page, section) for name, section in _SECTION.findall(page.read_text(encoding="utf-8"))]
    assert [link for link in links if link[1] not in _sections(link[0])] == []


def test_every_decoding_is_described() -> None:
    text = (ROOT / "docs" / "decoding.md").read_text(encoding="utf-8")
    named = {name for line in text.splitlines() if line.startswith("| `") for name in re.findall(r"`([^`]+)`", line.split("|")[1])}
    assert named >= set(DECODINGS)


def test_only_generated_parts_are_replaced() -> None:
    text = "a\n<!-- generated: twice b c -->\nold\n<!-- end of generated part -->\nd"
    assert regenerate(text, {"twice": lambda *words: f"{words}\n"}).splitlines()[1:4] == [
        "<!-- generated: twice b c -->",
        "('b', 'c')",
        "<!-- end of generated part -->",
    ]
    with pytest.raises(KeyError, match="twice"):
        regenerate(text, generators())
