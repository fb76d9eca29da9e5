"""The output for a text that is decoded in variants by a model that is a function."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from specdec_cli.decoding.sentence import Hypothesis
from specdec_cli.pipeline.decoded_text import DecodedText
from specdec_cli.pipeline.variants import Variant


class Chosen(NamedTuple):
    """The output that is chosen, the texts that were decoded for it, the number of variants that were decoded, and all their texts."""

    text: str
    texts: list[str]
    number: int
    shown: list[str]


def chosen(tried: Iterable[Variant], model: Callable[[str], str]) -> Chosen:
    """Decode the variants of a text until an output has no problem, and take the best output."""
    outputs: list[str] = []
    text = DecodedText("", iter(tried))
    settled = False
    while not settled:
        for number, source in enumerate(text.variant.segments.texts):
            text.parts.append(Hypothesis(number, [len(outputs)], 1, None))
            outputs.append(model(source))
        settled = text.settle(lambda ids: outputs[ids[0]])
    shown = [source for each in text.tried for source in each.variant.segments.texts]
    assert text.output is not None
    return Chosen(text.output, list(text.variant.segments.texts), len(text.tried), shown)
