"""Texts that are drawn from templates, and what their translations or corrections must have: records and checks of the tests of kinds."""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

import pytest

from specdec_cli.documents.document import Source
from specdec_cli.documents.formats import Format, read_document
from specdec_cli.pipeline.corrector import Correction
from specdec_cli.pipeline.translator import Translation
from specdec_cli.text.checks import NUMBERS
from specdec_cli.text.glossary import Term
from tests.stored_engine import corrector, translator


class Drawn(NamedTuple):
    """A text, and what its translation or correction must be like: each pattern of `has` is in it, and none of `lacks`; each text of
    `keeps` is in it as often as in the source, with no letter or hyphen beside it that the source does not have there.
    """

    source: str
    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    keeps: tuple[str, ...] = ()


class Kind(NamedTuple):
    """A kind of texts, the share of them that must come out right, in percent, the task, the format of a document or "", and the
    bundle that translates."""

    draw: Callable[[random.Random], Drawn]
    share: int
    task: str
    format: Format | Literal[""]
    bundle: str


def kinds(
    share: int, *draws: Callable[[random.Random], Drawn], task: str = "translate", format: Format | Literal[""] = "", bundle: str = "en-de"
) -> Iterator[Kind]:
    """A kind for each function that draws texts, all with the same share."""
    return (Kind(draw, share, task, format, bundle) for draw in draws)


def filled(draw: random.Random, template: str) -> str:
    """A template with one of the choices in each pair of braces, which are separated by |."""
    return re.sub(r"\{([^}]*)\}", lambda each: draw.choice(each[1].split("|")), template)


def wrong(drawn: Drawn, output: str) -> bool:
    """Whether an output lacks what it must have, or has what it must not have."""
    return (
        not all(re.search(each, output) for each in drawn.has)
        or any(re.search(each, output) for each in drawn.lacks)
        or any(_differs(text, drawn.source, output) for text in set(drawn.keeps))
    )


def _differs(text: str, source: str, output: str) -> bool:
    beside = re.compile(rf"[\w-]{re.escape(text)}|{re.escape(text)}[\w-]")
    return source.count(text) != output.count(text) or len(beside.findall(output)) > len(beside.findall(source))


def drawn(kind: Kind, seed: int, count: int = 60) -> Iterator[Drawn]:
    """`count` different texts of a kind."""
    draw, seen = random.Random(f"{kind.draw.__name__} {seed}"), set[str]()
    while len(seen) < count:
        one = kind.draw(draw)
        if one.source not in seen:
            seen.add(one.source)
            yield one


def outputs(kind: Kind, texts: Sequence[str], cache: pytest.Cache) -> list[str]:
    """What the shipped bundle of the kind's task makes of texts of one or more lines, or of documents."""
    decode: Callable[..., Iterator[Translation | Correction]] = (
        translator(kind.bundle, cache).translate if kind.task == "translate" else corrector(cache).correct
    )
    if kind.format:
        documents = [read_document(Source(text.encode(), f"a.{kind.format}"), kind.format) for text in texts]
        segments = [segment.text for document in documents for segment in document.segments]
        found = iter([each.text for each in decode(segments, separate=True)])
        return [document.translated([next(found) for _ in document.segments]).decode() for document in documents]
    lines = [line for text in texts for line in [*text.split("\n"), ""]]
    found = iter([each.text for each in decode(lines)])
    return ["\n".join([next(found) for _ in range(text.count("\n") + 2)][:-1]) for text in texts]


def check_translations(kind: Kind, seed: int, cache: pytest.Cache, terms: Sequence[Term] = (), are_warned: bool = True) -> None:
    """Translate drawn texts of a kind with the shipped bundle: enough of them must come out right, and the others must have the warning
    that numbers are lost, if they `are_warned`.
    """
    texts = list(drawn(kind, seed))
    found = list(translator(kind.bundle, cache, terms).translate([each.source for each in texts]))
    faults = [(each.source, output.text, output.warnings) for each, output in zip(texts, found, strict=True) if wrong(each, output.text)]
    print(f"\n{kind.draw.__name__:32} seed {seed}: {len(texts) - len(faults)} of {len(texts)}")
    assert 100 * len(faults) <= (100 - kind.share) * len(texts), faults
    assert not are_warned or all(NUMBERS in warnings for _, _, warnings in faults), faults


def check_outputs(kind: Kind, seed: int, cache: pytest.Cache) -> None:
    """Translate or correct drawn texts of a kind with the shipped bundle: enough of them must come out right."""
    texts = list(drawn(kind, seed))
    found = outputs(kind, [each.source for each in texts], cache)
    faults = [(each.source, output) for each, output in zip(texts, found, strict=True) if wrong(each, output)]
    print(f"\n{kind.draw.__name__:20}{kind.task:10} seed {seed}: {len(texts) - len(faults)} of {len(texts)}")
    assert 100 * len(faults) <= (100 - kind.share) * len(texts), faults
