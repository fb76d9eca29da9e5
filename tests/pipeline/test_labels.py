"""Labels: translated by the bundle's list where they stand alone, and never inside of running text."""

import random
import re
from pathlib import Path

import pytest

from specdec_cli.errors import ModelError
from specdec_cli.memories.opening import open_memory
from specdec_cli.pipeline.draft_gate import DraftGate
from specdec_cli.pipeline.drafts import Drafts
from specdec_cli.pipeline.translator import Translator
from specdec_cli.text.glossary import Glossary, Term
from specdec_cli.text.labels import FILE, Labels
from tests.stored_engine import opened

POOL = {
    "Home": "Startseite",
    "Hours": "(Öffnungsz|Stund).*",
    "Done": "Fertig|Erledigt",
    "Total": "Gesamt.*|Summe",
    "About": "Über.*",
    "Free": "Kostenlos|Frei|Gratis",
    "Submit": "Absenden|Senden|Abschicken|Einreichen",
    "Week": "Woche",
    "Month": "Monat",
    "May": "Mai",
    "Drink": "Getränk|Trinken",
    "Supper": "Abendessen|Abendbrot",
    "Low": "Niedrig|Gering",
    "Add to cart": "(In den|Zum) Warenkorb.*",
    "Yes": "Ja",
    "Thanks": "Danke",
    "Price": "Preis",
    "Sign in": "Anmelden|Einloggen",
    "Log Out": "Abmelden|Ausloggen",
    "My profile": "Mein Profil",
    "Change photo": "(Foto|Bild) ändern",
    "Notifications": "Benachrichtigungen|Mitteilungen",
    "Sound effects": "Soundeffekte|Klangeffekte|Toneffekte",
    "Difficulty": "Schwierigkeit.*",
    "New game": "Neues Spiel",
    "Load game": "Spiel laden",
    "Quit game": "Spiel (beenden|verlassen)",
    "Compose": "Verfassen|Schreiben",
    "Reply all": "Allen antworten",
    "Forward": "Weiterleiten|Vorwärts|Weiter",
    "Inbox": "Posteingang",
    "Subject": "Betreff|Thema",
    "Attach file": "Datei (anhängen|anfügen)",
    "Bookmarks": "Lesezeichen",
    "History": "Verlauf|Chronik|Geschichte",
    "New tab": "Neuer Tab|Neues Unterfenster",
    "Transfer": "Überweis.*|Übertrag.*",
    "Balance": "Saldo|Kontostand|Guthaben",
    "Account number": "Kontonummer",
    "Withdraw": "Abheben|Auszahlen|Zurückziehen",
    "First name": "Vorname",
    "Postcode": "Postleitzahl|PLZ",
    "Date of Birth": "Geburtsdatum",
    "Required": "Erforderlich|Pflicht.*|Benötigt",
    "Departure date": "(Abreise|Abflug|Abfahrt).*",
    "Rooms": "Zimmer|Räume",
    "Breakfast included": "(Mit )?Frühstück (inklusive|inbegriffen|enthalten)|Inklusive Frühstück",
    "Sunday": "Sonntag",
    "Closed": "Geschlossen",
    "Open": "Öffnen|Offen|Geöffnet",
    "Sold Out": "Ausverkauft",
    "Size": "Größe",
    "Colour": "Farbe",
    "Quantity": "Menge|Anzahl",
    "Description": "Beschreibung",
    "Details": "Details|Einzelheiten",
    "Specifications": "Spezifikationen|Technische Daten",
    "Reviews": "Bewertungen|Rezensionen",
    "Print": "Drucken",
    "Font": "Schrift.*",
    "Bold": "Fett",
    "Table": "Tabelle|Tisch",
    "Insert": "Einfügen",
    "Undo": "Rückgängig.*",
    "Properties": "Eigenschaften",
    "Full Screen": "Vollbild.*",
    "Language": "Sprache",
    "Help": "Hilfe",
    "Chicken soup": "Hühnersuppe",
    "Red wine": "Rotwein|Roter Wein",
    "Strawberry": "Erdbeere",
    "Wednesday": "Mittwoch",
    "Kitchen": "Küche",
    "France": "Frankreich",
    "Green": "Grün",
    "Twelve": "Zwölf",
    "Warning": "Warnung|Achtung",
    "Try again": "(Versuchen Sie es )?(Erneut|Noch einmal|noch einmal|erneut)( versuchen)?",
    "Not found": "Nicht gefunden",
    "Please wait": "Bitte warten.*",
    "Version": "Version",
    "Username": "Benutzername",
    "Latest news": "(Aktuelle|Neueste|Neuste|Letzte) (Nachrichten|Neuigkeiten|Meldungen)|Aktuelles",
    "Read more": "(Weiter|Mehr) ?lesen",
    "Opening hours": "Öffnungszeiten",
    "Lost password": "Passwort (vergessen|verloren)|Verlorenes Passwort",
    "Screenshots": "Bildschirmfotos|Screenshots",
    "Upload": "Hochladen",
    "Expiry date": "Ablaufdatum|Verfallsdatum",
    "Card number": "Kartennummer",
}
"""Labels as they stand in menus, forms and tables, and patterns of translations that a reader accepts."""
FRAMES = ("{}", "{}", "{}", "# {}", "* {}", "| {} | 12 |", "{}:", "<b>{}</b>", "1. {}", "{}\t{}")


@pytest.fixture(scope="module")
def translator(pytestconfig: pytest.Config) -> Translator:
    """A translator into German that knows labels."""
    bundle, engine = opened("en-de", pytestconfig.cache)
    translator = Translator(engine, bundle.tokenizer, languages=("en", "de"))
    translator.use_labels(bundle.labels)
    return translator


def translated(translator: Translator, *lines: str) -> list[str]:
    """The translations of lines."""
    return [line.text for line in translator.translate(lines)]


def test_a_label_is_translated_where_it_stands_alone(translator: Translator) -> None:
    sources = ("Home", "Home\tHours\tMay", "| Done | Free |", "* Submit", "- [ ] Total", "<b>About</b>", "## Low", "Price:", "Search...")
    expected = ("Startseite", "Startseite\tStunden\tMai", "| Fertig | Kostenlos |", "* Absenden", "- [ ] Gesamt", "<b>Über uns</b>")
    assert translated(translator, *sources) == [*expected, "## Niedrig", "Preis:", "Suche..."]


def test_capitals_of_a_label_are_kept(translator: Translator) -> None:
    assert translated(translator, "Sign in", "Sign In", "HOME", "OK", "Ok") == ["Anmelden", "Anmelden", "STARTSEITE", "OK", "OK"]


@pytest.mark.parametrize("sentence", ["Home.", "Done!", "Free?", "Done. Home", "I am at home. Home", "May I?", "Home is nice", "home"])
def test_a_sentence_is_never_taken_for_a_label(translator: Translator, sentence: str, pytestconfig: pytest.Config) -> None:
    bundle, engine = opened("en-de", pytestconfig.cache)
    plain = Translator(engine, bundle.tokenizer, languages=("en", "de"))
    assert [*translator.translate([sentence])] == [*plain.translate([sentence])]
    assert [line.decoding for line in translator.translate([sentence])] != ["copy"]


def test_terms_and_earlier_translations_come_before_labels(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    bundle, engine = opened("en-de", pytestconfig.cache)
    translator = Translator(engine, bundle.tokenizer, languages=("en", "de"))
    translator.use_labels(bundle.labels)
    (tmp_path / "memory.tsv").write_text("Contact\tAnsprechpartner\n", encoding="utf-8")
    translator.use_drafts(Drafts(open_memory(tmp_path / "memory.tsv", "en", "de", 70), DraftGate.for_batches(1), copy_exact=True))
    translator.use_glossary(Glossary([Term("Home", "Home"), Term("Free", "Gratis")]))
    assert translated(translator, "Contact", "Home", "Free", "Hours") == ["Ansprechpartner", "Home", "Gratis", "Stunden"]


def test_the_shipped_list_is_used_as_it_is(translator: Translator, pytestconfig: pytest.Config) -> None:
    path = Path(opened("en-de", pytestconfig.cache)[0].path or "").with_name(FILE)
    listed = Labels.of_file(path)
    pairs = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    assert len(pairs) > 300 and all(1 <= len(source.split()) <= 4 and source[-1] not in ".!?" for source, _ in pairs)
    assert [listed.find(source) for source, _ in pairs] == [target for _, target in pairs]
    assert translated(translator, *(source for source, _ in pairs)) == [target for _, target in pairs]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("Home\n", "line 1: not a label, a tab and its translation"),
        ("# Menus\n\nHome\tHeim\nHOME\tHaus\n", "line 4: 'HOME' stands in the file twice"),
        ("Home\t\n", "line 1: not a label, a tab and its translation"),
        ("Home \tHeim\n", "line 1: not a label, a tab and its translation"),
        ("Home\tHeim\tHaus\n", "line 1: not a label, a tab and its translation"),
    ],
)
def test_a_fault_of_a_file_is_named(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / FILE
    path.write_text(content)
    with pytest.raises(ModelError, match=re.escape(f"{path}, {message}")):
        Labels.of_file(path)


def test_labels_are_stored(tmp_path: Path) -> None:
    labels = Labels({"Home": "Startseite", "Sign in": "Anmelden"})
    labels.save(tmp_path / FILE)
    stored = Labels.of_file(tmp_path / FILE)
    assert [stored.find(text) for text in ("Home", "Sign In", "Other")] == ["Startseite", "Anmelden", None]


@pytest.mark.long
@pytest.mark.parametrize("seed", [21, 22])
def test_most_drawn_labels_are_translated_as_a_reader_expects(translator: Translator, seed: int) -> None:
    draw = random.Random(seed)
    labels = draw.sample(sorted(POOL), 60)
    frames = [draw.choice(FRAMES) for _ in labels]
    outputs = translated(translator, *(frame.replace("{}", label) for frame, label in zip(frames, labels, strict=True)))
    faults = []
    for label, frame, output in zip(labels, frames, outputs, strict=True):
        pattern = re.escape(frame).replace(r"\{\}", f"(?:{POOL[label]})")
        if not re.fullmatch(pattern, output):
            faults.append((label, output))
    assert len(faults) <= 9, faults


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("Page {{current}} of {{total}}", "Seite {{current}} von {{total}}"),
        ("Page {0} of {1}", "Seite {0} von {1}"),
        ("Step {0} of {1}", "Schritt {0} von {1}"),
        ("Page %d of %d", "Seite %d von %d"),
        ("{count} of {total}", "{count} von {total}"),
    ],
)
def test_the_only_word_beside_placeholders_is_not_lost(translator: Translator, source: str, expected: str) -> None:
    assert translated(translator, source) == [expected]
