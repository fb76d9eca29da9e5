"""Long code in sentences is not cut, and a text without an output stays as it is."""

import random

import pytest

from specdec_cli.pipeline.translator import LineTranslator
from specdec_cli.text.checks import EMPTY
from tests.stored_engine import opened

CARRIERS = (
    "As in {}, the field is optional, and the answer has the same form.",
    "Send {} to the server to get the translation of a text.",
    "The call {} draws a line on the page; it returns nothing.",
    "Please use {} if the file is large, or split it first.",
    "`name` in a request, as in {}, is the name of a person.",
)
KEYS, VALUES = (
    ("q", "source", "target", "temperature", "seed", "file", "mode", "text"),
    ('"Good morning!"', '"en"', "0.7", "3", '"a. B"', "null"),
)


def code(draw: random.Random) -> str:
    fields = ", ".join(f'"{key}": {draw.choice(VALUES)}' for key in draw.sample(KEYS, draw.randint(2, 6)))
    return draw.choice(("`{{{}}}`", "`send({{{}}})`", "`curl -d '{{{}}}' localhost`")).format(fields)


@pytest.mark.parametrize("bundle", ["en-de", "de-en"])
def test_long_code_is_not_cut(bundle: str, request: pytest.FixtureRequest) -> None:
    draw = random.Random(3)
    described, engine = opened(bundle, request.config.cache)
    codes = [code(draw) for _ in range(60)]
    lines = [draw.choice(CARRIERS).format(each) for each in codes]
    outputs = [each.text for each in LineTranslator.of_bundle(engine, described).translate(lines)]
    assert [text for text, each in zip(outputs, codes, strict=True) if text.count(each) != 1] == []


def test_a_text_without_an_output_stays(request: pytest.FixtureRequest) -> None:
    described, engine = opened("en-de", request.config.cache)
    words = ["does", "it", "about", "of", "has", "the", "to", "for", "by", "an", "or", "as"]
    translator = LineTranslator.of_bundle(engine, described, labels=False)
    found = list(translator.translate(words))
    assert all(each.text.strip() for each in found)
    left = [word for word, each in zip(words, found, strict=True) if EMPTY in each.warnings]
    assert left and all(each.text == word for word, each in zip(words, found, strict=True) if word in left)
