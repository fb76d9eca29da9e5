"""`python -m tools.quantities MODEL`: in how many of 300 drawn sentences the weights of a translator alone write the quantity right.

A third of the sentences have a number, a time and a price each, which are drawn at random and written as the source language does. Greedy
decoding of the engine is judged, without anything that `translate` does to its lines before and after.
"""

import argparse
import random
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from specdec_cli.decoding.options import DecodingOptions
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.model.bundle_info import describe_bundle
from specdec_cli.opening.engines import open_engine
from specdec_cli.opening.machine import MachineOptions
from specdec_cli.opening.models import ModelChoice, find_bundle
from specdec_cli.text.locale.languages import CURRENCIES
from specdec_cli.text.locale.quantities import find_quantities

COUNT = 300
SEED = 53
FRAMES: dict[str, dict[str, list[str]]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
"""Sentences with a place for a quantity, of each language and kind."""
_NAMES = {"$": ("dollar",), "€": ("euro", "eur"), "£": ("pound", "pfund", "gbp")}
_CLOCK = re.compile(r"\b(\d{1,2}) o['\u2019]clock\b")
Drawn = tuple[str, str]
"""A kind and a sentence with a quantity of this kind."""


def _number(draw: random.Random, language: str) -> str:
    size = draw.choice((10, 100, 1000, 10_000, 100_000))
    amount = draw.randrange(max(size, 13), 10 * size)
    fraction = f".{draw.randrange(1, 10)}" if size <= 100 and draw.random() < 0.3 else ""
    return _localised(f"{amount:,}{fraction}", language)


def _time(draw: random.Random, language: str) -> str:
    hour, minute = draw.randrange(24), 0 if draw.random() < 0.3 else draw.randrange(5, 60, 5)
    if language == "de":
        return draw.choice((f"{hour}:{minute:02} Uhr", f"{hour}.{minute:02} Uhr") if minute else (f"{hour} Uhr",))
    half = draw.choice(("am", "pm", " AM", " PM", " a.m.", " p.m.")[hour // 12 :: 2])
    return f"{(hour - 1) % 12 + 1}" + (f":{minute:02}" if minute else "") + half


def _price(draw: random.Random, language: str) -> str:
    amount = draw.randrange(13, draw.choice((100, 1000, 10_000)))
    text = _localised(f"{amount:,}" + (f".{draw.randrange(1, 100):02}" if draw.random() < 0.6 else ""), language)
    sign = draw.choice("$€£")
    return f"{text} {sign}" if language == "de" else f"{sign}{text}"


def _localised(number: str, language: str) -> str:
    return number.translate(str.maketrans(",.", ".,")) if language == "de" else number


_KINDS: dict[str, Callable[[random.Random, str], str]] = {"number": _number, "time": _time, "price": _price}


def drawn_sentences(language: str, count: int = COUNT, seed: int = SEED) -> Iterator[Drawn]:
    """Yield `count` sentences of English or German with a drawn quantity, the kinds in turn."""
    draw = random.Random(seed)
    for place in range(count):
        kind = tuple(_KINDS)[place % len(_KINDS)]
        frame = draw.choice(FRAMES[language][kind])
        text = frame.format(_KINDS[kind](draw, language))
        yield kind, text.replace("..", ".")


def is_right(kind: str, source: str, output: str, languages: tuple[str, str]) -> bool:
    """Whether an output has the quantities of its source, and no others, as the target language reads them; a price with its currency."""
    output = _CLOCK.sub(r"\1:00", output)
    wanted, found = (find_quantities(text, language) for text, language in zip((source, output), languages, strict=True))
    if kind == "time":
        return [time.minutes for time in wanted] == [time.minutes for time in found]
    if [each.value for each in wanted] != [each.value for each in found]:
        return False
    signs = [sign for sign in CURRENCIES if sign in source]
    return all(sign in output or any(name in output.lower() for name in _NAMES[sign]) for sign in signs)


def translate(model: str, sentences: Sequence[str]) -> list[str]:
    """Greedy decoding of sentences in int8 by the engine alone."""
    opened = open_engine(ModelChoice(model), MachineOptions(precision="int8", threads=1), DecodingOptions(decoding="greedy"))
    tokenizer = opened.bundle.tokenizer
    given = [Sentence(place, tokenizer.add_special_tokens(tokenizer.encode(text))) for place, text in enumerate(sentences)]
    outputs = {hypothesis.number: tokenizer.decode(hypothesis.ids) for hypothesis in opened.engine.decode(given)}
    return [outputs[place] for place in range(len(sentences))]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.quantities", description=__doc__)
    parser.add_argument("model", help="en-de, de-en, or the folder of such a bundle")
    parser.add_argument("--wrong", action="store_true", help="print the sentences whose quantity is wrong")
    arguments = parser.parse_args()
    info = describe_bundle(find_bundle(ModelChoice(arguments.model))).info
    languages = info.source_language, info.target_language
    drawn = list(drawn_sentences(languages[0]))
    outputs = translate(arguments.model, [text for _, text in drawn])
    right = Counter[str]()
    for (kind, text), output in zip(drawn, outputs, strict=True):
        right[kind] += is_right(kind, text, output, languages)
        if arguments.wrong and not is_right(kind, text, output, languages):
            print(f"{kind}\t{text}\t{output}")
    of_each = COUNT // len(FRAMES[languages[0]])
    print(f"{right.total()} of {COUNT} right: " + ", ".join(f"{kind}s {right[kind]} of {of_each}" for kind in FRAMES[languages[0]]))


if __name__ == "__main__":
    main()
