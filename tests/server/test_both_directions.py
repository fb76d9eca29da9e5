"""A server with models of both directions of a pair of languages, and the detection of these."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from specdec_cli.errors import UsageError
from specdec_cli.opening.models import ModelChoice
from specdec_cli.server.service import Words
from specdec_cli.text.glossary import Glossary, Term
from specdec_cli.work import served_models
from specdec_cli.work.served_models import words_of_models
from tests.server.browser import CHROMIUM, Browser
from tests.server.conftest import Running, running
from tests.server.test_page import Answering


@pytest.fixture(scope="module")
def both() -> Iterator[Running]:
    """A server that translates from English to German and from German to English, to capital letters."""
    pairs = (("en", "de"), ("de", "en"))
    with running(pairs=pairs, showings={f"translate {one} {other}": Answering() for one, other in pairs}) as (own, _):
        yield own


def test_each_language_has_the_other_as_its_target(both: Running) -> None:
    listed = both.ask("GET", "/languages").json
    assert [(each["code"], each["targets"]) for each in listed] == [("en", ["de"]), ("de", ["en"])]


@pytest.mark.parametrize(("text", "language"), [("Das ist nicht gut.", "de"), ("This is not good.", "en"), ("123", "en")])
def test_the_language_of_a_text_is_detected(both: Running, text: str, language: str) -> None:
    assert both.post("/detect", q=text).json[0]["language"] == language


@pytest.mark.parametrize(
    ("text", "target", "source", "translation"),
    [
        ("das ist nicht gut", "en", "de", "DAS IST NICHT GUT"),
        ("this is not good", "de", "en", "THIS IS NOT GOOD"),
        ("this is not good", "en", "en", "this is not good"),
        ("hallo", "en", "de", "HALLO"),
        ("hello", "de", "en", "HELLO"),
    ],
)
def test_texts_are_translated_from_the_language_they_have(both: Running, text: str, target: str, source: str, translation: str) -> None:
    answer = both.translate(text, source="auto", target=target).json
    assert (answer["translatedText"], answer["detectedLanguage"]["language"]) == (translation, source)


def test_a_direction_without_a_model_is_refused(both: Running) -> None:
    answer = both.translate("a", source="de", target="fr")
    assert answer.status == 400 and "en to de, de to en" in answer.json["error"]


def test_a_glossary_is_exchanged_for_the_opposite_direction(monkeypatch: pytest.MonkeyPatch) -> None:
    directions = {"there": ("en", "de"), "back": ("de", "en"), "other": ("en", "fr"), "mend": ("en", "en")}
    monkeypatch.setattr(served_models, "bundle_direction", lambda choice: directions[choice.name])
    monkeypatch.setattr(served_models, "bundle_task", lambda choice: "correct" if choice.name == "mend" else "translate")
    monkeypatch.setattr(served_models, "bundle_order", lambda _: "left-to-right")
    words = Words(Glossary([Term("dog", "Dackel"), Term("hound", "Dackel"), Term("URL", "URL")]))
    there, mend, back = (ModelChoice(name) for name in ("there", "mend", "back"))
    own = words_of_models(words, [there, mend, back])
    assert own[:2] == [words, words]
    glossary = own[2].glossary
    assert glossary is not None
    assert [match.term for match in glossary.find("Der Dackel, die URL, a dog")] == [Term("Dackel", "dog"), Term("URL", "URL")]
    assert words_of_models(Words(), [there, back, ModelChoice("other")]) == [Words()] * 3
    for choices in ([there, ModelChoice("other")], [there, back, there], [mend]):
        with pytest.raises(UsageError, match="one for each direction"):
            words_of_models(words, choices)


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
def test_a_button_exchanges_the_languages(both: Running, tmp_path: Path) -> None:
    with Browser(tmp_path, 390) as browser:
        browser.call("Page.navigate", url=f"{both.url}/")
        browser.wait_for("document.activeElement?.id === 'text'")
        browser.call("Input.insertText", text="hello")
        browser.wait_for("document.getElementById('result').textContent === 'HELLO'")
        browser.value("document.getElementById('exchange').click()")
        browser.wait_for("document.querySelector('#tasks input:checked').value === 'translate de en'")
        assert browser.value("document.getElementById('text').value") == "HELLO"
        assert browser.value("document.getElementById('source').textContent") == "German"
        browser.wait_for("document.getElementById('result').textContent === 'HELLO'")
        assert browser.problems == []


def test_the_page_has_a_button_to_exchange_languages(both: Running) -> None:
    page = both.ask("GET", "/").body.decode()
    assert '<button id="exchange" hidden>' in page and "translate en de" in page and "translate de en" in page


@pytest.mark.parametrize("text", ["Guten Morgen", "Danke", "Hallo", "Hund", "Das Haus ist rot.", "Speichern unter"])
def test_short_texts_are_german(shipped: Running, text: str) -> None:
    (found,) = shipped.ask("POST", "/detect", json.dumps({"q": text})).json
    assert found["language"] == "de"
    assert found["confidence"] > 50


@pytest.mark.parametrize("text", ["Good morning", "Thank you", "Hello", "Dog", "The house is red.", "Save as"])
def test_short_texts_are_english(shipped: Running, text: str) -> None:
    (found,) = shipped.ask("POST", "/detect", json.dumps({"q": text})).json
    assert found["language"] == "en"


def test_a_text_in_a_third_language_has_little_confidence_and_stays(shipped: Running) -> None:
    text = "I bambini giocano nel giardino."
    (found,) = shipped.ask("POST", "/detect", json.dumps({"q": text})).json
    assert found["confidence"] < 10
    answer = shipped.ask("POST", "/translate", json.dumps({"q": text, "source": "auto", "target": "de"})).json
    assert answer["translatedText"] == text
