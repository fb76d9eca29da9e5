"""Line breaks in the texts of Markdown documents."""

import pytest

from tests.documents.helper import parse, shout, texts, translated


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("| The dog<br>The cat |\n|-|", ["The dog", "The cat"]),
        ("Milk<br>Bread<BR/>Water <br /> Wine", ["Milk", "Bread", "Water", "Wine"]),
        ("> The dog<br>\n> **Every day** it\n> eats.", ["The dog", "<g1>Every day</g1> it eats."]),
        ("The dog<br> *and* the cat<br>\nor two", ["The dog<n1/> <g2>and</g2> the cat<n3/> or two"]),
        ("See **the dog<br>The cat** here", ["See <v1/>the dog", "The cat<v1/> here"]),
        ("The `a<br>B` dog ![x](y)<br>", ["The `a<br>B` dog <g1>x</g1>"]),
    ],
)
def test_line_breaks_end_a_text_unless_lower_case_follows(text: str, expected: list[str]) -> None:
    document = parse(f"{text}\n", "md")
    assert texts(document) == expected
    assert document.translated([shout(each) for each in texts(document)]).decode().casefold() == f"{text}\n".casefold()


def test_a_part_after_a_line_break_is_wrapped_on_its_own() -> None:
    text = "> One house<br>Some children are playing\n> in the garden.\n"
    longer = translated(text, "md", lambda each: each.replace("playing", "playing ball").replace("One", "One large and beautiful"))
    assert longer == "> One large and beautiful house<br>Some children are playing\n> ball in the garden.\n"
