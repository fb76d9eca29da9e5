"""Detection of languages by a server of the shipped models."""

import json

import pytest

from tests.server.conftest import Running


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
