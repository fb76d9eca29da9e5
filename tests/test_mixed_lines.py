"""Two hundred lines that are not plain prose: the shipped bundles keep their protected text.

In tests/data/mixed-lines.txt, text between guillemets must be in the output as often as in the line. Text between single
guillemets is a mark, which must also keep its position.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from specdec_cli.decoding.options import DecodingOptions, resolve
from specdec_cli.engines.reference import Engine
from specdec_cli.model.bundle import load_bundle
from specdec_cli.opening.machine import move_to, resolve_machine
from specdec_cli.opening.models import SHIPPED
from specdec_cli.pipeline.corrector import LineCorrector
from specdec_cli.pipeline.edit_filter import EditFilter
from specdec_cli.pipeline.translator import LineTranslator

KEPT = re.compile("\u00ab(.*?)\u00bb|\u2039(.*?)\u203a")
LINES = [
    line
    for line in (Path(__file__).parent / "data" / "mixed-lines.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("== ") or not line.isascii()
]
SOURCES = [re.sub("[\u00ab\u00bb\u2039\u203a]", "", line) for line in LINES]


def faults(expected: Sequence[str], outputs: Sequence[str]) -> list[str]:
    """Pairs of line and output in which protected text is missing, repeated or moved."""
    found = []
    for line, source, output in zip(expected, SOURCES, outputs, strict=True):
        kept = [match.group(1) for match in KEPT.finditer(line) if match.group(1)]
        marks = [match.group(2) for match in KEPT.finditer(line) if match.group(2)]
        pattern = ".*".join(map(re.escape, marks))
        if line.startswith("\u2039"):
            pattern = f"^{pattern}"
        if line.endswith("\u203a"):
            pattern = f"{pattern}$"
        if any(output.count(text) != source.count(text) for text in kept) or not re.search(pattern, output):
            found.append(f"{source} -> {output}")
    return found


def test_the_file_has_two_hundred_lines() -> None:
    assert len(LINES) == 200


def test_translation_keeps_all_protected_text() -> None:
    bundle = move_to(resolve_machine("cpu", "auto", 1), load_bundle(SHIPPED / "en-de"))
    engine = Engine(bundle, resolve(DecodingOptions(batch_size=32), bundle))
    found = list(LineTranslator(engine, bundle.tokenizer, languages=("en", "de")).translate(SOURCES))
    assert faults(LINES, [line.text for line in found]) == []
    assert [line.text for line in found if "repetition" in line.warnings or "empty" in line.warnings] == []
    # Prose in these lines is translated.
    assert sum(line.text != source for line, source in zip(found, SOURCES, strict=True)) > 110


def test_correction_keeps_all_protected_text() -> None:
    bundle = move_to(resolve_machine("cpu", "auto", 1), load_bundle(SHIPPED / "en-gec"))
    engine = Engine(bundle, resolve(DecodingOptions(batch_size=32, with_scores=True), bundle))
    found = list(LineCorrector(engine, bundle.tokenizer, EditFilter.of(bundle.info), languages=("en", "en")).correct(SOURCES))
    assert faults(LINES, [line.text for line in found]) == []
    assert [line.text for line in found if line.warnings] == []


@pytest.mark.parametrize("output", ["", "Die Seite wurde nicht gefunden.", "Siehe https://www.example.org https://www.example.org"])
def test_lost_and_repeated_addresses_are_found(output: str) -> None:
    index = SOURCES.index("Do you know https://www.example.org?")
    assert len(faults(LINES, [output if n == index else source for n, source in enumerate(SOURCES)])) == 1
