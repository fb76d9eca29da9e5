"""Detection of languages by function words."""

import pytest

from specdec_cli.language_codes import short_code
from specdec_cli.text.locale.languages import is_foreign, is_in_language, is_latin

GERMAN = (
    "Ich habe gestern mit meinem Bruder \u00fcber das Buch gesprochen.",
    "Wenn es morgen regnet, werden wir nicht in die Stadt fahren.",
)
ENGLISH = (
    "I was in a hurry so I could not wait for him to die.",
    "The man who was in the war had all that he will need.",
    "Der Spiegel and Die Zeit are German newspapers that I like to read.",
    "also man was so in an all",
    "Nein",
    "",
)


@pytest.mark.parametrize("text", GERMAN)
def test_german_is_distinguished_from_english(text: str) -> None:
    assert is_in_language(text, "de", "en") and is_in_language(text, "deu_Latn", "eng_Latn") and is_foreign(text, "en-GB")
    assert not is_in_language(text, "en", "de") and not is_foreign(text, "de")


@pytest.mark.parametrize("text", ENGLISH)
def test_english_is_distinguished_from_german(text: str) -> None:
    assert not is_in_language(text, "de", "en") and not is_foreign(text, "en")


@pytest.mark.parametrize(
    "text",
    [
        "Je ne suis pas dans la maison avec les enfants.",
        "No lo s\u00e9, pero los ni\u00f1os est\u00e1n en la casa con su madre.",
        "Non lo so, ma i bambini sono nella casa con gli altri, che \u00e8 molto bella.",
        "Ik weet het niet, maar de kinderen zijn bij een vriend van mijn broer.",
    ],
)
def test_other_languages_are_detected(text: str) -> None:
    assert is_foreign(text, "en")


def test_unknown_languages_are_not_detected() -> None:
    assert (
        not is_in_language(GERMAN[0], "de", "xx") and not is_in_language(GERMAN[0], "", "en") and not is_in_language(GERMAN[0], "de", "de")
    )
    assert is_latin("en_XX") and is_latin("pol") and not is_latin("zh")


@pytest.mark.parametrize(
    ("code", "short"),
    [("rus_Cyrl", "ru"), ("pes_Arab", "fa"), ("cze", "cs"), ("eng_Latn", "en"), ("sr@latin", "sr"), ("pt-BR", "pt"), ("yue_Hant", "yue")],
)
def test_codes_of_three_letters_have_the_two_letters_of_iso_639(code: str, short: str) -> None:
    assert short_code(code) == short
