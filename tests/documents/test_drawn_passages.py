"""References to notes, and subtitles with sounds, cut-off speech, tags and headings, drawn from templates: nothing runs together.

`pytest tests/documents/test_drawn_passages.py -s` prints how many of each kind come out as a reader expects.
"""

import random
import re

import pytest

from tests.drawn import Drawn, Kind, check_outputs, kinds
from tests.tables import tables

TEXTS = tables(__file__)
SENTENCE = "[0-9A-Z\u00c4\u00d6\u00dc\u201e][^<>\\[\\]()\n]+"
"""A pattern for a sentence."""


def _note(draw: random.Random, sentences: list[str], mark: str) -> Drawn:
    """One or two sentences, the first with a reference to a note behind it."""
    first, last = draw.choice(sentences), draw.choice(["", *sentences])
    wanted = re.escape(mark) + (f" {SENTENCE}" if last else "")
    return Drawn(f"{first}{mark} {last}".strip(), has=(f"^{SENTENCE}{wanted}$",), lacks=(r"\d[.,]\d",))


def _in_paragraph(found: Drawn) -> Drawn:
    return Drawn(f"<p>{found.source}</p>", (f"^<p>{found.has[0][1:-1]}</p>$",), found.lacks)


def _link(draw: random.Random) -> str:
    mark, attributes = draw.choice(TEXTS.marks), draw.choice(TEXTS.attributes)
    inner = f"<a {attributes}>{mark}</a>"
    return draw.choice((inner, inner, f"<sup>{inner}</sup>"))


def notes(draw: random.Random) -> Drawn:
    """References to notes in pages."""
    return _in_paragraph(_note(draw, TEXTS.sentences, _link(draw)))


def notes_in_german(draw: random.Random) -> Drawn:
    """The same in German."""
    return _in_paragraph(_note(draw, TEXTS.german_sentences, _link(draw)))


def notes_in_markdown(draw: random.Random) -> Drawn:
    """The same in Markdown."""
    number = draw.randrange(1, 99)
    mark = draw.choice(("[{0}](#fn{0})", "[\\[{0}\\]](#n{0})", "[[{0}]](#n{0})", "[^{0}]", "[*](#n{0})", "[{0}](notes.md#n{0})")).format(
        number
    )
    return _note(draw, TEXTS.sentences, mark)


def _cues(*cues: str) -> str:
    return "\n".join(f"{place}\n00:00:{place:02},000 --> 00:00:{place:02},900\n{text}\n" for place, text in enumerate(cues, 1))


def _shown(*cues: str) -> tuple[str, ...]:
    """Patterns of cues, each of which is given as one."""
    return tuple(f"(?m)^00:00:{place:02},000 --> 00:00:{place:02},900\\n{cue}$" for place, cue in enumerate(cues, 1))


def sounds(draw: random.Random) -> Drawn:
    """Sounds beside speech."""
    sound, own = draw.choice(list(TEXTS.sounds.items()))
    if draw.random() < 0.3:
        sound, own = sound.upper(), own.upper()
    marks, (first, second) = draw.choice(("[]", "()")), draw.sample(TEXTS.speech, 2)
    before, behind = f"{marks[0]}{sound}{marks[1]}", re.escape(f"{marks[0]}{own}{marks[1]}")
    cue, wanted = draw.choice(
        (
            (f"{before} {first}", f"{behind} {SENTENCE}[.?!]"),
            (f"{first} {before}", f"{SENTENCE}[.?!] {behind}"),
            (f"{before}\n{first}", f"{behind}\n{SENTENCE}[.?!]"),
            (before, behind),
        )
    )
    return Drawn(_cues(cue, second), has=_shown(wanted, f"{SENTENCE}[.?!]"))


def cut_off(draw: random.Random) -> Drawn:
    """Speech that is cut off before the next cue or line."""
    mark, left, right = draw.choice(("--", "\u2014", "\u2013")), draw.choice(TEXTS.cut_off), draw.choice(TEXTS.speech)
    lines = rf"[A-Z]\w[^\n]*[^\W\d_]{mark}", rf"{SENTENCE}[.?!]"
    if draw.random() < 0.5:
        return Drawn(_cues(left + mark, right), has=_shown(*lines))
    return Drawn(_cues(f"{left}{mark}\n{right}"), has=_shown("\n".join(lines)))


def dialogues(draw: random.Random) -> Drawn:
    """Dialogues and songs with a tag around each line."""
    opening, closing = draw.choice(TEXTS.tags)
    sign, end = draw.choice((("- ", ""), ("\u266a ", " \u266a"), ("- ", "")))
    speech = draw.sample(TEXTS.speech, 2)
    lines = "\n".join(f"{opening}{sign}{text}{end}{closing}" for text in speech)
    line = f"{re.escape(opening)}{sign}{SENTENCE}(?:\n[^<>\n]+)?[.?!]{end}{re.escape(closing)}"
    return Drawn(_cues(lines), has=_shown(f"{line}\n{line}"))


def headings(draw: random.Random) -> Drawn:
    """Headings and addresses before speech."""
    first, second = draw.sample(list(TEXTS.headings), 2)
    cues = [first, second][: draw.randint(1, 2)]
    return Drawn(_cues(*cues, draw.choice(TEXTS.speech)), has=_shown(*(TEXTS.headings[each] for each in cues), f"{SENTENCE}[.?!]"))


KINDS = (
    *kinds(97, notes, format="html"),
    *kinds(97, notes_in_german, format="html", bundle="de-en"),
    *kinds(97, notes_in_markdown, format="md"),
    *kinds(97, sounds, cut_off, dialogues, headings, format="srt"),
)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.draw.__name__)
@pytest.mark.parametrize("seed", [61, 62])
def test_drawn_passages_come_out_apart(kind: Kind, seed: int, pytestconfig: pytest.Config) -> None:
    check_outputs(kind, seed, pytestconfig.cache)
