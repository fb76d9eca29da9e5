"""Another language is data alone: French numbers, quotation marks and dates, of which the package knows only the words."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import specdec_cli

WORDS = """
quotes = [["«\u00a0", "\u00a0»"], ["“", "”"]]

[dates]
before-day = '(?:le )?'
after-day = '(?:er)?(?!\\w|[.:/,]\\d)'
before-month = ' (?:de )?'
before-year = ' '
after-weekday = ',? '
decade = '(?<=années \\d{4})'
decade-form = 'années {}'
to = 'au|à'
also = 'et|ou'
before = '\\b(?:(?P<range>du|de) |(?P<between>entre)(?: le)? |(?:le|en|depuis|avant|après) )$'
every-day = 'tous les jours'
since = 'du '
of-names = 'de '
to-day = ' au '
to-name = ' à '
between = ['entre le ', ' et le ']
on = 'le '
listed = '(?:,? (?P<word>et|ou)|,) (?:le )?'
separators = ["to = au", "and = et", "or = ou"]
"""
QUOTES, DATES = WORDS.strip().split("\n\n")
NAMES = {
    "months": ["janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre", "décembre"],
    "short_months": ["janv.", "févr.", "mars", "avr.", "mai", "juin", "juil.", "août", "sept.", "oct.", "nov.", "déc."],
    "weekdays": ["lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"],
    "short_weekdays": ["lun.", "mar.", "mer.", "jeu.", "ven.", "sam.", "dim."],
    "month": "MMMM y",
    "day": "d MMMM",
    "date": "d MMMM y",
    "weekday": "EEEE d MMMM",
    "full": "EEEE d MMMM y",
}
PROGRAM = """
import json, sys
from specdec_cli.text.locale.ranges import written_alone
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
CASES = [
    (("dates", "Du 3 au 5 juin 2024 et le 1er mai, juin 2021.", "fr"), ["3 au 5 juin 2024", "le 1er mai", "juin 2021"]),
    (("dates", "Le 12 juillet, en juil. 2020 et le jeu. 3 mars", "fr"), ["12 juillet", "juil. 2020", "jeu. 3 mars"]),
    (("alone", "May 3, 2020", "en", "fr"), "3 mai 2020"),
    (("alone", "dimanche 3 mai 2020", "fr", "de"), "Sonntag, 3. Mai 2020"),
    (("alone", "$1,234.50", "en", "fr"), "1\u202f234,50\u00a0$"),
    (("lost", "It was on May 3, 2020.", "Il pleut le 3 mai 2020.", "en", "fr"), []),
    (("lost", "It was on May 3, 2020.", "Il pleut en mai.", "en", "fr"), ["May 3, 2020"]),
    (("with_dates", "It was on May 3, 2020.", "Il pleut le mai 3, 2020.", "en", "fr"), "Il pleut le 3 mai 2020."),
    (("with_dates", "Am 3. Mai 2020.", "Le mai 3, 2020.", "de", "fr"), "Le 3 mai 2020."),
    (("numbers", "It has 1,234,567 books.", "Il a 1,234,567 livres.", "en", "fr"), "Il a 1\u202f234\u202f567 livres."),
    (("quotes", 'Il a dit "oui".', 'He said "yes".', "fr"), "Il a dit «\u00a0oui\u00a0»."),
]


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
    known = words.read_text(encoding="utf-8")
    words.write_text(known.replace("\n[", f"\n{QUOTES}\n\n[", 1) + f"\n{DATES}\n", encoding="utf-8")
    names = json.loads((locale / "dates.json").read_text(encoding="utf-8"))
    (locale / "dates.json").write_text(json.dumps(names | {"fr": NAMES}), encoding="utf-8")
    return folder


def test_a_language_is_added_by_data_alone(package: Path) -> None:
    asked = json.dumps([case for case, _ in CASES])
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=asked, capture_output=True, text=True, encoding="utf-8", cwd=package, check=False
    )
    assert found.returncode == 0, found.stderr
    assert dict(zip((case for case, _ in CASES), json.loads(found.stdout), strict=True)) == dict(CASES)
