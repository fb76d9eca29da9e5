"""Forms that are right in some styles and varieties of English, and changes that look alike and are corrections."""

import pytest

from specdec_cli.text.edits import Edit
from specdec_cli.text.spelling.kept_forms import changes_form, is_in_small_letters, is_telegraphic


@pytest.mark.parametrize(
    ("text", "source", "new", "changes"),
    [
        ("Ten pounds is too much.", "is", "are", True),
        ("The books is too old.", "is", "are", False),
        ("The team are playing well.", "are", "is", True),
        ("Our local council have decided.", "have", "has", True),
        ("The teams is playing well.", "is", "are", False),
        ("The team is playing well.", "is", "are", False),
        ("The car are red.", "are", "is", False),
        ("She demanded that he apologise.", "apologise", "apologised", True),
        ("It is important that she be on time.", "be", "is", True),
        ("She said that he go home.", "go", "goes", False),
        ("I need to practise the piano.", "practise", "practice", True),
        ("She practises every day.", "practises", "practices", True),
        ("It was a good practise.", "practise", "practice", False),
        ("They took his license.", "license", "licence", False),
        ("He went to hospital.", "", "the ", True),
        ("He went to shop.", "", "the ", False),
        ("Run npm install before you start.", "install", "installs", True),
        ("Use pip install to add it.", "install", "installs", True),
        ("Then run docker image to see it.", "image", "images", True),
        ("We use three image here.", "image", "images", False),
        ("The variable i is an int.", "i", "I", True),
        ("Here i = 5 or more.", "i", "I", True),
        ("Yesterday i went home.", "i", "I", False),
        ("Select it where id = 5 holds.", "where", "were", True),
        ("Type cd .. to go up.", " ..", "...", True),
        ("Wait .. what is it?", " ..", "...", False),
        ("Set it in package.json today.", "in", "in the", True),
        ("%d files are here.", "", "The ", True),
        ("He lives in house.", "in", "in the", False),
        ("Bear spotted in back garden", "in", "in the", True),
        ("Local man say no", "no", "no.", False),
        ("How do I love thee? Let me.", "thee", "there", True),
        ("I go to thee store.", "thee", "the", False),
        ("Killer whale seen off coast", "whale", "whales", True),
        ("Two whale seen off coast", "whale", "whales", False),
        ("Children first too get vaccine", "too", "to", False),
        ("I saw bear in the garden", "saw", "saw a", False),
    ],
)
def test_changes_of_forms(text: str, source: str, new: str, changes: bool) -> None:
    start = text.index(" to ") + 4 if new == "the " else f" {text}".index(f" {source}") if source.isalpha() else text.index(source)
    assert changes_form(text, Edit(start, start + len(source), source, new)) == changes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Local man wins lottery twice", True),
        ("Local man wins lottery twice.", False),
        ("He wins lottery twice", False),
        ("Man wins the lottery", False),
        ("Lottery", False),
    ],
)
def test_telegraphic_texts_have_no_articles_and_no_stop(text: str, expected: bool) -> None:
    assert is_telegraphic(text) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("see you later", True),
        ("did you see it?", True),
        ("see you later.", False),
        ("see you, Tom", False),
        ("- see you", False),
        ("", False),
    ],
)
def test_lines_in_small_letters_have_no_capital_and_no_stop(line: str, expected: bool) -> None:
    assert is_in_small_letters(line) == expected
