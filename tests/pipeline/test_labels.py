"""Labels: translated by the bundle's list where they stand alone, and never inside of running text."""

import re
from pathlib import Path

import pytest

from specdec_cli.errors import ModelError
from specdec_cli.memories.memory import open_memory
from specdec_cli.pipeline.draft_gate import DraftGate
from specdec_cli.pipeline.drafts import Drafts
from specdec_cli.pipeline.translator import LineTranslator
from specdec_cli.text.glossary import Glossary, Term
from specdec_cli.text.labels import FILE, Labels
from tests.stored_engine import opened


@pytest.fixture(scope="module")
def translator(pytestconfig: pytest.Config) -> LineTranslator:
    """A translator into German that knows labels."""
    bundle, engine = opened("en-de", pytestconfig.cache)
    translator = LineTranslator(engine, bundle.tokenizer, languages=("en", "de"))
    translator.use_labels(bundle.labels)
    return translator


def translated(translator: LineTranslator, *lines: str) -> list[str]:
    """The translations of lines."""
    return [line.text for line in translator.translate(lines)]


def test_a_label_is_translated_where_it_stands_alone(translator: LineTranslator) -> None:
    sources = (
        "Home",
        "Home\tHours\tMay",
        "| Done | Free |",
        "* Submit",
        "- [ ] Total",
        "<b>About</b>",
        "## Low",
        "Price:",
        "Search...",
        "Yours sincerely,",
    )
    expected = ("Startseite", "Startseite\tStunden\tMai", "| Fertig | Kostenlos |", "* Absenden", "- [ ] Gesamt", "<b>Über uns</b>")
    assert translated(translator, *sources) == [*expected, "## Niedrig", "Preis:", "Suche...", "Mit freundlichen Grüßen,"]
    assert translated(translator, "Yours sincerely,", "Best regards,") == ["Mit freundlichen Grüßen,"] * 2


def test_capitals_of_a_label_are_kept(translator: LineTranslator) -> None:
    assert translated(translator, "Sign in", "Sign In", "HOME", "OK", "Ok") == ["Anmelden", "Anmelden", "STARTSEITE", "OK", "OK"]


@pytest.mark.parametrize("sentence", ["Home.", "Done!", "Free?", "Done. Home", "I am at home. Home", "May I?", "Home is nice", "home"])
def test_a_sentence_is_never_taken_for_a_label(translator: LineTranslator, sentence: str, pytestconfig: pytest.Config) -> None:
    bundle, engine = opened("en-de", pytestconfig.cache)
    plain = LineTranslator(engine, bundle.tokenizer, languages=("en", "de"))
    assert [*translator.translate([sentence])] == [*plain.translate([sentence])]
    assert [line.decoding for line in translator.translate([sentence])] != ["copy"]


def test_terms_and_earlier_translations_come_before_labels(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    bundle, engine = opened("en-de", pytestconfig.cache)
    translator = LineTranslator(engine, bundle.tokenizer, languages=("en", "de"))
    translator.use_labels(bundle.labels)
    (tmp_path / "memory.tsv").write_text("Contact\tAnsprechpartner\n", encoding="utf-8")
    translator.use_drafts(Drafts(open_memory(tmp_path / "memory.tsv", "en", "de", 70), DraftGate.for_batches(1), copy_exact=True))
    translator.use_glossary(Glossary([Term("Home", "Home"), Term("Free", "Gratis")]))
    assert translated(translator, "Contact", "Home", "Free", "Hours") == ["Ansprechpartner", "Home", "Gratis", "Stunden"]


def test_the_shipped_list_is_used_as_it_is(translator: LineTranslator, pytestconfig: pytest.Config) -> None:
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
def test_the_only_word_beside_placeholders_is_not_lost(translator: LineTranslator, source: str, expected: str) -> None:
    assert translated(translator, source) == [expected]
