"""Texts whose parts are decoded by themselves."""

import pytest

from specdec_cli.text.apart import (
    Apart,
    brackets_apart,
    count_repetitions,
    has_brackets_of,
    has_menus_of,
    menus_apart,
    repetition_apart,
    speech_apart,
    with_known_menus,
)

EN_DE, DE_EN = ("en", "de"), ("de", "en")


def first(text: str, languages: tuple[str, str] = EN_DE) -> Apart:
    return next(speech_apart(text, languages))


@pytest.mark.parametrize(
    ("text", "texts", "outputs", "expected"),
    [
        (
            '"We saw Tom," she said.',
            ('"Yes," she said.', "We saw Tom."),
            ("\u201eJa\u201c, sagte sie.", "Wir sahen Tom."),
            "\u201eWir sahen Tom\u201c, sagte sie.",
        ),
        (
            "He asked, 'Who wrote \"Dune\"?'",
            ('He asked, "Yes?"', 'Who wrote "Dune"?'),
            ('Er fragte: "Ja?"', 'Wer schrieb "Dune"?'),
            "Er fragte: \u201eWer schrieb \u201aDune\u2018?\u201c",
        ),
        ('"We left early.', ("We left early.",), ("Wir gingen fr\u00fch.",), "\u201eWir gingen fr\u00fch."),
        (
            'Nobody saw us," she said.',
            ('"Yes," she said.', "Nobody saw us."),
            ("\u201eJa\u201c, sagte sie.", "Niemand sah uns."),
            "Niemand sah uns\u201c, sagte sie.",
        ),
        (
            '"If you go," he said, "and see Tom, call me."',
            ('"Yes," he said, "yes."', "If you go.", "and see Tom, call me."),
            ("\u201eJa\u201c, sagte er, \u201eja.\u201c", "Wenn du gehst.", "und Tom siehst, ruf mich an."),
            "\u201eWenn du gehst\u201c, sagte er, \u201eund Tom siehst, ruf mich an.\u201c",
        ),
        ('He said, "It was late."', ('He said, "Yes."', "It was late."), ("Er sagte: \u201eJa.", "Es war sp\u00e4t."), None),
    ],
)
def test_speech_is_decoded_apart(text: str, texts: tuple[str, ...], outputs: tuple[str, ...], expected: str | None) -> None:
    found = first(text)
    assert found.texts == texts
    assert found.join(outputs) == expected


def test_english_has_commas_inside_and_straight_marks() -> None:
    found = first("\u201eWir sahen \u201aDune\u2018\u201c, sagte sie.", DE_EN)
    assert found.texts == ('"Ja", sagte sie.', 'Wir sahen "Dune".')
    assert found.join(("\u201cYes,\u201d she said.", "We saw 'Dune'.")) == "\"We saw 'Dune',\" she said."


@pytest.mark.parametrize("text", ['The film "Moby Dick" is old.', '"Stop!" he said.', "The dogs' food.", 'It is 5" wide.', "It is late."])
def test_texts_without_speech_are_not_divided(text: str) -> None:
    assert list(speech_apart(text, EN_DE)) == []


def test_at_last_any_quotation_of_several_words_is_speech() -> None:
    text = 'Tom said "we saw Dune" and "Emma".'
    assert list(speech_apart(text, EN_DE)) == []
    found = next(speech_apart(text, EN_DE, at_last=True))
    assert found.texts == ('Tom said "yes" and "Emma".', "we saw Dune")
    outputs = ("Tom sagte \u201eja\u201c und \u201eEmma\u201c.", "wir sahen Dune.")
    assert found.join(outputs) == "Tom sagte \u201ewir sahen Dune\u201c und \u201eEmma\u201c."
    assert list(speech_apart('The film "Moby Dick" is old.', EN_DE, at_last=True)) == []


def test_unknown_languages_are_not_divided() -> None:
    assert list(speech_apart('"We saw Tom," she said.', ("en", "xx"))) == list(speech_apart('"We saw Tom," she said.', ("", ""))) == []


def test_brackets_inside_of_brackets_are_decoded_apart() -> None:
    (found,) = brackets_apart("The house (the old one (by the river)) is sold (now).")
    assert found.texts == ("The house (the old one) is sold (now).", "by the river")
    assert found.join(("Das Haus (das alte) ist verkauft (jetzt).", "am Fluss.")) == "Das Haus (das alte (am Fluss)) ist verkauft (jetzt)."
    assert found.join(("Das Haus das alte) ist verkauft (jetzt).", "am Fluss.")) is None
    assert list(brackets_apart("The house (the old one) and f(g(1)).")) == []


def test_repeated_clauses_are_counted_and_decoded_once_or_twice() -> None:
    assert [count_repetitions(text) for text in ("No, no, no!", "No, no!", "No!", "Not now, not now, not now.", "No, nobody, no.")] == [
        3,
        2,
        1,
        3,
        1,
    ]
    twice, once = repetition_apart("Nein, nein, nein!", "en")
    assert (twice.texts, once.texts) == (("Nein, nein!",), ("Nein!",))
    assert twice.join(["No, no!"]) == once.join(["No!"]) == "No, no, no!"
    assert twice.join(["No!"]) is once.join(["Well, no!"]) is None
    assert [each.texts for each in repetition_apart("Halt, halt!", "en")] == [("Halt!",)]
    assert [each.texts for each in repetition_apart("No, no, no, not now!", "de")] == [("No, no, not now!",)]


def test_brackets_are_compared_without_endings_of_words() -> None:
    assert has_brackets_of("Das Haus (alt)", "The houses(s) (old)")
    assert not has_brackets_of("Das Haus (alt", "The house (old)")


def test_names_of_menus_are_decoded_apart() -> None:
    (apart,) = menus_apart("Click File > Save As to go on.")
    assert apart.texts == ("Click K7 to go on.", "File", "Save As")
    assert apart.join(("Klicken Sie auf K7.", "Datei", "speichern unter.")) == "Klicken Sie auf Datei > Speichern unter."
    assert apart.join(("Klicken Sie.", "Datei", "Speichern")) is None
    (whole,) = menus_apart("Privacy & Security > Cookies")
    assert whole.texts == ("Privacy & Security", "Cookies")
    assert not list(menus_apart("5 > 3 and A > B, C > D"))


def test_outputs_have_the_menus_of_their_source() -> None:
    source = "Choose File > Open."
    assert has_menus_of("Datei > \u00d6ffnen w\u00e4hlen.", source)
    assert not has_menus_of("Datei >, um zu w\u00e4hlen.", source)
    assert not has_menus_of("Hilfe von > Optionen", source)
    assert has_menus_of("5 >", "5 > 3")


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("Im Men\u00fc Akte > Open w\u00e4hlen", "Im Men\u00fc Datei > \u00d6ffnen w\u00e4hlen"),
        ("Akte > Open Neu", "Datei > Open Neu"),
        ("Akte > Open > Neu", "Akte > Open > Neu"),
        ("Akte", "Akte"),
    ],
)
def test_names_of_menus_have_the_translations_of_labels(output: str, expected: str) -> None:
    labels = {"File": "Datei", "Open": "\u00d6ffnen"}
    assert with_known_menus(output, "Choose File > Open", labels.get) == expected
