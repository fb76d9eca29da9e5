"""Title and description of front matter are texts only where this is wanted, and their outputs are values again."""

import random
import tomllib

import pytest

from specdec_cli.documents.document import Document, Source
from specdec_cli.documents.markdown import read_markdown
from specdec_cli.text.edits import Edit
from tests.tables import tables

TEXTS = tables(__file__)

WORDS = ("red", "house", "guide", "to", "the", "garden", "Berlin", "a", "new", "it's", "2", "C#", "yes", "(first)", "part")


def read(text: str, *, front_matter: bool = True) -> Document:
    """The document of a Markdown file."""
    return read_markdown(Source(text.encode(), "a.md", front_matter=front_matter))


def test_title_and_description_are_texts_with_the_option() -> None:
    text = '---\ntitle: Quick start\nlayout: page\ndescription: "How to begin"\ntags: [title, x]\n---\n\n# Hello there\n'
    assert [each.text for each in read(text, front_matter=False).segments] == ["Hello there"]
    document = read(text)
    assert [each.text for each in document.segments] == ["Quick start", "How to begin", "Hello there"]
    changed = document.translated(["Schnell: los", 'Der "Anfang"', "Hallo"]).decode()
    assert changed == ('---\ntitle: "Schnell: los"\nlayout: page\ndescription: "Der \\"Anfang\\""\ntags: [title, x]\n---\n\n# Hallo\n')
    assert document.translated([each.text for each in document.segments]).decode() == text


@pytest.mark.parametrize("line", TEXTS.other_values_are_kept)
def test_other_values_are_kept(line: str) -> None:
    text = f"---\n{line}\n---\n\nA house.\n"
    assert [each.text for each in read(text).segments] == ["A house."]


def value(line: str) -> str:
    """The value of a line of YAML, of the styles that the tests write."""
    written = line.partition(":")[2].strip()
    if written[0] == '"':
        return str(tomllib.loads(f"a = {written}")["a"])
    if written[0] == "'":
        return written[1:-1].replace("''", "'")
    assert written[0] not in "#-[" and ": " not in written and " #" not in written
    assert written.lower() not in ("ja", "yes", "no", "12") or written == "Ja"
    return written


def test_drawn_values_are_read_back_from_what_is_written() -> None:
    draw = random.Random(61)
    for _ in range(60):
        words = " ".join(draw.choices(WORDS[:11], k=draw.randrange(2, 6)))
        quote, name, ending = draw.choice(("", "'", '"')), draw.choice(("title", "description")), draw.choice(("\n", "\r\n"))
        shown = f"{quote}{words.replace(chr(39), '') if quote == chr(39) else words}{quote}"
        text = f"---\nid: 7\n{name}: {shown}\n---\n\nText.\n".replace("\n", ending)
        document, output = read(text), draw.choice(TEXTS.outputs)
        assert len(document.segments) == 2
        changed = document.translated([output, "Text."]).decode()
        assert value(changed.split(ending)[2]) == output
        assert changed.replace(changed.split(ending)[2], "") == text.replace(text.split(ending)[2], "")


def test_corrections_change_words_only() -> None:
    text = "---\ntitle: No house are big\n---\n"
    document = read_markdown(Source(text.encode(), "a.md", purpose="correct", front_matter=True))
    changed = document.corrected([[Edit(0, 2, "No", "Not"), Edit(3, 3, "", "a "), Edit(9, 12, "are", "is")]])
    assert changed.decode() == "---\ntitle: Not a house is big\n---\n"


def test_values_of_toml() -> None:
    text = "+++\ntitle = \"A house\"\ndescription = 'A garden'\nweight = 3\n+++\n\nText.\n"
    document = read(text)
    assert [each.text for each in document.segments] == ["A house", "A garden", "Text."]
    front = document.translated(['Ein "Haus"', "Toms' Garten", "Text."]).decode().split("+++")[1]
    assert tomllib.loads(front) == {"title": 'Ein "Haus"', "description": "Toms\u2019 Garten", "weight": 3}
