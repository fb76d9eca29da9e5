"""Constructions that are wrong whatever stands around them, and right sentences that look like them."""

import pytest

from specdec_cli.text.edits import apply_edits
from specdec_cli.text.spelling.constructions import construction_edits

PAIRS = """
I listen music every evening. | I listen to music every evening.
She came for to help us. | She came to help us.
He is married with a doctor. | He is married to a doctor.
I have twenty years old. | I am twenty years old.
They had 20 years old. | They were 20 years old.
Most of people like chocolate. | Most people like chocolate.
I don't have many money. | I don't have much money.
I look forward to hear from you. | I look forward to hearing from you.
Yesterday I go to the cinema. | Yesterday I went to the cinema.
Last week she buys a car. | Last week she bought a car.
It is a very nice furniture. | It is very nice furniture.
I saw the the film. | I saw the film.
The the cat sleeps. | The cat sleeps.
I went to the the the shop. | I went to the shop.
It is is is late. | It is late.
I I think so. | I think so.
In my opinion it is good. | In my opinion, it is good.
He left. However we stayed. | He left. However, we stayed.
"""
RIGHT = """
The most listened radio station plays jazz.
This is what is called for to resolve it.
He is married with two children.
He is married with a small child.
She has five years of experience.
Most of people's money is gone.
Many information systems failed.
We look forward to work and play.
Yesterday, I think, he went home.
Much a priori information is used.
There is a little information about it.
I know that that is right.
He had had enough.
What it is is a mystery.
She said no no no.
He came in in the end.
I gave her her book.
We stayed in The The Hague Hotel.
However hard it is, we try.
For example, the price is high.
The example for instance it gave
We spoke of In my opinion it is.
"""


@pytest.mark.parametrize("pair", PAIRS.strip().splitlines())
def test_a_wrong_construction_is_mended(pair: str) -> None:
    wrong, right = pair.split(" | ")
    assert apply_edits(wrong, sorted(construction_edits(wrong))) == right
    assert list(construction_edits(right)) == []


@pytest.mark.parametrize("line", RIGHT.strip().splitlines())
def test_what_may_be_right_stays(line: str) -> None:
    assert list(construction_edits(line)) == []
