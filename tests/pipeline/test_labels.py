"""Labels: translated by the bundle's list where they stand alone, and never inside of running text."""

import random
import re
from pathlib import Path

import pytest

from specdec_cli.errors import ModelError
from specdec_cli.memories.memory import open_memory
from specdec_cli.opening.models import SHIPPED
from specdec_cli.pipeline.drafts import DraftGate, Drafts
from specdec_cli.pipeline.translator import LineTranslator
from specdec_cli.text.glossary import Glossary, Term
from specdec_cli.text.labels import COMMAND, FILE, NAME, Labels
from tests import stored_engine
from tests.stored_engine import opened
from tests.tables import tables

CASES = tables(__file__)


@pytest.fixture(scope="module")
def translator(pytestconfig: pytest.Config) -> LineTranslator:
    """A translator into German that knows labels."""
    return stored_engine.translator("en-de", pytestconfig.cache)


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


def test_the_order_is_memory_glossary_label_quantity(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    bundle, engine = opened("en-de", pytestconfig.cache)
    translator = LineTranslator(engine, bundle.tokenizer, languages=("en", "de"))
    texts = ("$3.50", "3.5 kg", "June 3, 2028", "12%", "Home")
    assert translated(translator, *texts[:4]) == ["3,50\u00a0$", "3,5 kg", "3. Juni 2028", "12\u00a0%"]

    translator.use_labels(Labels({text: f"Etikett {text}" for text in texts}))
    assert translated(translator, *texts) == [f"Etikett {text}" for text in texts]

    translator.use_glossary(Glossary([Term("kg", "Kilo"), Term("Home", "Heim")]))
    assert translated(translator, *texts) == ["Etikett $3.50", "3,5 Kilo", "Etikett June 3, 2028", "Etikett 12%", "Heim"]

    (tmp_path / "memory.tsv").write_text("$3.50\tFast nichts\n12%\tWenig\n3.5 kg\tDrei Kilo\nHome\tHaus\n", encoding="utf-8")
    translator.use_drafts(Drafts(open_memory(tmp_path / "memory.tsv", "en", "de", 70), DraftGate.for_batches(1), copy_exact=True))
    assert translated(translator, *texts) == ["Fast nichts", "Drei Kilo", "Etikett June 3, 2028", "Wenig", "Heim"]


def test_the_shipped_list_is_used_as_it_is(translator: LineTranslator, pytestconfig: pytest.Config) -> None:
    path = Path(opened("en-de", pytestconfig.cache)[0].path or "").with_name(FILE)
    listed = Labels.of_file(path)
    pairs = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    pairs = [[part.replace(NAME, "Weber") for part in pair] for pair in pairs]
    pairs = [pair for pair in pairs if not pair[0].startswith(": ") and COMMAND not in pair[0]]
    assert len(pairs) > 300 and all(1 <= len(source.split()) <= 7 and source[-1] not in ".!?" for source, _ in pairs)
    assert [listed.find(source) for source, _ in pairs] == [target for _, target in pairs]
    assert translated(translator, *(source for source, _ in pairs)) == [target for _, target in pairs]


@pytest.mark.parametrize(("content", "message"), CASES.a_fault_of_a_file_is_named)
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


@pytest.mark.parametrize(("source", "expected"), CASES.the_only_word_beside_placeholders_is_not_lost)
def test_the_only_word_beside_placeholders_is_not_lost(translator: LineTranslator, source: str, expected: str) -> None:
    assert translated(translator, source) == [expected]


TITLES = {
    "en-de": "Dear Mr.=Sehr geehrter Herr/Dear Mrs=Sehr geehrte Frau/Dear Ms.=Sehr geehrte Frau/Dear Dr.=Guten Tag Dr.",
    "de-en": "Sehr geehrter Herr=Dear Mr./Sehr geehrte Frau=Dear Ms./Hallo Frau=Hello Ms./Liebe Frau Dr.=Dear Dr."
    "/Sehr geehrter Herr & Frau=Dear Mr. and Mrs.",
}


@pytest.mark.parametrize("bundle", ["en-de", "de-en"])
def test_drawn_salutations_keep_name_and_mark(bundle: str) -> None:
    labels = Labels.of_file(SHIPPED / bundle / FILE)
    draw, first = random.Random(bundle), {"en-de": ("Dear", "Hallo"), "de-en": ("Hallo", "Hello")}[bundle]
    for _ in range(60):
        title, expected = draw.choice(TITLES[bundle].split("/")).split("=")
        name, mark = f"{draw.choice(['', draw.choice(CASES.given) + ' '])}{draw.choice(CASES.family)}", draw.choice([",", "", "!", ":"])
        assert labels.find(f"{title} {name}{mark}") == f"{expected} {name}{mark}"
        given = draw.choice(CASES.given)
        assert labels.find(f"{first[0]} {given},") == f"{first[1]} {given},"


@pytest.mark.parametrize("text", ["Dear Anna", "dear Anna,", "Dear Mr. Smith is here", "Dear Mr. Smith.", "Dear A 1,"])
def test_what_is_no_salutation_is_no_label(text: str) -> None:
    assert Labels.of_file(SHIPPED / "en-de" / FILE).find(text) is None


@pytest.mark.parametrize(("line", "expected"), CASES.a_label_before_a_colon_is_translated_apart)
def test_a_label_before_a_colon_is_translated_apart(translator: LineTranslator, line: str, expected: str) -> None:
    assert translated(translator, line) == [expected]


def test_drawn_states_are_translated_as_values_of_fields_and_in_tables(translator: LineTranslator) -> None:
    draw = random.Random(5)
    names = {"Status": "Status", "Door": "T\u00fcr", "Ticket status": "Ticketstatus", "Order": "Bestellung", "**Room**": "**Zimmer**"}
    for _ in range(60):
        (name, target), (state, expected) = draw.choice([*names.items()]), draw.choice([*CASES.states.items()])
        assert translated(translator, f"{name}: {state}", f"| {state} | 17 |", f"High\t{state}") == [
            f"{target}: {expected}",
            f"| {expected} | 17 |",
            f"Hoch\t{expected}",
        ]


@pytest.mark.parametrize(("source", "expected"), CASES.a_label_is_a_command_or_a_state_by_what_is_beside_it)
def test_a_label_is_a_command_or_a_state_by_what_is_beside_it(translator: LineTranslator, source: str, expected: str) -> None:
    assert translated(translator, source) == [expected]


def test_drawn_fields_of_a_form_have_the_label_of_the_list(translator: LineTranslator) -> None:
    draw = random.Random(3)
    listed = ("Phone", "Amount due", "Invoice number", "Date", "Subject", "Total price", "First name", "Email", "Address", "Quantity")
    labels = Labels.of_file(SHIPPED / "en-de" / FILE)
    for _ in range(60):
        label, value = draw.choice(listed), str(draw.randint(100, 999))
        assert translated(translator, f"{label}: {value}") == [f"{labels.find(label)}: {value}"]


@pytest.mark.parametrize(("source", "expected"), CASES.a_greeting_is_translated_with_its_name_alone_and_before_text)
def test_a_greeting_is_translated_with_its_name_alone_and_before_text(translator: LineTranslator, source: str, expected: str) -> None:
    assert translated(translator, source) == [expected]


@pytest.mark.parametrize("text", ["Dear me,", "Dear Mr. 7,", "Dear Mr. Miller. Hello,", "Hi of Anna,", "Hi Anna,Tom", "Dear ,"])
def test_what_is_no_greeting_with_a_name_is_left_to_the_model(text: str) -> None:
    labels = Labels({"Dear Mr. {name},": "Sehr geehrter Herr {name},", "Hi {name},": "Hallo {name},", "Dear {name},": "Hallo {name},"})
    assert labels.find(text) is None
    assert not labels.greetings.end(text)


@pytest.mark.parametrize("line", CASES.a_label_with_a_name_or_mark_that_its_translation_lacks_is_refused)
def test_a_label_with_a_name_or_mark_that_its_translation_lacks_is_refused(line: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(f"Home\tStart\n{line}\n", encoding="utf-8")
    with pytest.raises(ModelError, match=r"labels\.tsv, line 2: a label and its translation need"):
        Labels.of_file(tmp_path / FILE)
