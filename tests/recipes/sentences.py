"""Text to which the recipes of errors apply."""

import random


def english_sentences(count: int) -> list[str]:
    """English sentences to which most kinds of errors apply."""
    generator = random.Random(0)
    choices = (("man", "girl", "teacher", "dog"), ("walks", "goes", "runs", "drives"), ("house", "school", "river", "city"))
    made = [[generator.choice(words) for words in choices] for _ in range(count)]
    return [f"The old {who} {does} to the {where} every {n}th day." for n, (who, does, where) in enumerate(made)]
