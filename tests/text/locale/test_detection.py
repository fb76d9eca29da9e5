"""Languages of short texts, which the library tells apart, and texts that stay as they are without it."""

from collections.abc import Iterator, Mapping

import pytest

from specdec_cli.text.locale import languages
from specdec_cli.text.locale.languages import is_told_apart, likeliest_language, probabilities
from specdec_cli.text.segment.layout import Passthrough, segment_line

GERMAN = """
Das Haus ist rot.|Ich bin müde.|Guten Morgen, mein Freund.|Mein Name ist Anna.|Ich liebe dich.|Die Tür ist offen.|Speichern unter
Guten Morgen|Danke|Wie geht es dir?|Bis morgen!|Ich habe Hunger.|Wo ist der Bahnhof?|Das Wetter ist schön.|Er kommt heute nicht.
Sie liest ein Buch.|Der alte Mann und das Meer|Wir gehen nach Hause.|Es regnet.|Alles Gute zum Geburtstag!|Bitte warten
Einstellungen öffnen|Kein Zutritt|Vielen Dank für Ihre Hilfe.|Ich verstehe nicht.|Was kostet das?|Das Kind schläft.|Mach das Fenster zu.
Hallo|Hund
"""
ENGLISH = """
The house is red.|I am tired.|Good morning, my friend.|My name is Anna.|I love you.|The door is open.|Save as|Thanks|How are you?
See you tomorrow!|I am hungry.|Where is the station?|He is not coming today.|She reads a book.|It rains.|Please wait|Open settings
No entry|What does it cost?|Close the window.|Hello|Dog|Berlin is big.|Mr. Schmidt lives in Hamburg.|File|Home|OK|The Bundestag met.
Is 9am fine?|Not before B12!|Where is 9am?|Send it to Königsallee 20, 40212 Düsseldorf.|I work for Deutsche Bahn AG.
"""
OTHERS = """
Je suis à la maison.|Merci beaucoup|Il fait froid aujourd'hui.|Elle lit un livre.|Les enfants jouent dans le jardin.
Buongiorno|Oggi fa freddo.|Lei legge un libro.|I bambini giocano nel giardino.
"""


def lines(text: str) -> list[str]:
    return [each for line in text.split("\n") for each in line.split("|") if each]


@pytest.fixture
def without_library(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(languages, "_model", lambda: None)
    probabilities.cache_clear()
    yield
    probabilities.cache_clear()


def test_text_in_the_target_language_stays() -> None:
    kept = [line for line in lines(GERMAN) if Passthrough("en", "de").are_told_apart([line])]
    assert len(kept) >= 25
    assert len(lines(GERMAN)) == 30


@pytest.mark.parametrize("target", ["de", "en"])
def test_text_in_the_source_language_is_decoded(target: str) -> None:
    assert [line for line in lines(ENGLISH) if Passthrough("en", target).are_told_apart([line])] == []


def test_german_words_that_look_english_are_decoded() -> None:
    texts = lines("Was bedeutet das?|Was meinen Sie?|Was willst du damit sagen?|Was bringt uns das?|Tom weiß, was wir tun.")
    assert [text for text in texts if Passthrough("de", "en").are_told_apart([text])] == []


@pytest.mark.parametrize("target", ["de", "en"])
def test_text_in_a_third_language_stays(target: str) -> None:
    assert [line for line in lines(OTHERS) if not Passthrough("eng_Latn", target).are_told_apart([line])] == []


def test_the_likeliest_language_has_its_probability() -> None:
    code, share = likeliest_language("Das Haus ist rot.", ["en", "de"])
    assert code == "de"
    assert 0.9 < share <= 1
    assert likeliest_language("Je suis à la maison.", ["en", "de"])[1] < 0.1
    assert likeliest_language("12:30", ["en", "de"]) == (None, 0.0)


def test_unknown_languages_tell_nothing() -> None:
    assert not is_told_apart("Das Haus ist rot.", "", "")
    assert not Passthrough().are_told_apart(["Das Haus ist rot."])


@pytest.mark.usefixtures("without_library")
def test_without_the_library_function_words_decide() -> None:
    assert not any(Passthrough("en", "de").are_told_apart([line]) for line in lines(GERMAN) if len(line.split()) < 3)
    assert likeliest_language("Das ist nicht der Hund.", ["en", "de"]) == ("de", 1.0)
    assert likeliest_language("Guten Morgen", ["en", "de"]) == (None, 0.0)


def test_probabilities_sum_to_one() -> None:
    found: Mapping[str, float] = probabilities("Good\tmorning,\nmy friend")
    assert sum(found.values()) == pytest.approx(1.0, abs=0.01)
    assert max(found, key=lambda code: found[code]) == "en"


def test_sentences_of_a_line_are_decoded() -> None:
    assert segment_line("I know it. Das Haus ist rot.", 50, len, Passthrough("en", "de")).texts == ("I know it.", "Das Haus ist rot.")
    parts = ("I know it very well, my friend.", "Guten Morgen.", "It is late today, and we are going home.")
    assert segment_line(" ".join(parts), 50, len, Passthrough("en", "de")).texts == parts
    cells = segment_line("The house\tDas Haus", 50, len, Passthrough("en", "de"))
    assert cells.texts == ("The house",)
