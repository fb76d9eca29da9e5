"""Another language is data alone: French numbers, quotation marks and dates, of which the package knows only the words."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import specdec_cli
from tests.tables import tables

CASES = tables(__file__)

PROGRAM = """
import json, sys
from specdec_cli.text.locale.amounts import written_alone
from specdec_cli.text.locale.dates import find_dates, lost_dates, with_dates
from specdec_cli.text.locale.matching import realise
from specdec_cli.text.quotations import with_own_quotes

functions = {
    "alone": lambda text, *languages: written_alone(text, languages),
    "dates": lambda text, language: [each.text for each in find_dates(text, language)],
    "lost": lambda source, output, *languages: [each.text for each in lost_dates(source, output, languages)],
    "with_dates": lambda source, output, *languages: with_dates(source, output, languages),
    "numbers": lambda source, output, *languages: realise(source, output, languages),
    "quotes": with_own_quotes,
}
print(json.dumps([functions[name](*values) for name, *values in json.load(sys.stdin)]))
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package, with the French words and names."""
    folder = tmp_path_factory.mktemp("package")
    own = Path(specdec_cli.__file__).parent
    for name in ("text", "english"):
        shutil.copytree(own / name, folder / "specdec_cli" / name)
    for file in own.glob("*.py"):
        shutil.copy(file, folder / "specdec_cli")
    locale = folder / "specdec_cli" / "text" / "locale"
    words = locale / "languages" / "fr.toml"
    known, (quotes, dates) = words.read_text(encoding="utf-8"), CASES.words.strip().split("\n\n")
    words.write_text(known.replace("\n[", f"\n{quotes}\n\n[", 1) + f"\n{dates}\n", encoding="utf-8")
    names = json.loads((locale / "dates.json").read_text(encoding="utf-8"))
    (locale / "dates.json").write_text(json.dumps(names | {"fr": CASES.names}), encoding="utf-8")
    return folder


def test_a_language_is_added_by_data_alone(package: Path) -> None:
    asked = json.dumps([case for case, _ in CASES.cases])
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=asked, capture_output=True, text=True, encoding="utf-8", cwd=package, check=False
    )
    assert found.returncode == 0, found.stderr
    assert [[case, answer] for (case, _), answer in zip(CASES.cases, json.loads(found.stdout), strict=True)] == CASES.cases
