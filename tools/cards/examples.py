"""Examples of a model's output, drawn at random from dev sets."""

import random
from collections.abc import Sequence

from tools.cards.decoding import Decoded
from tools.tables import markdown

SEED, EXAMPLES = 17, 20


def examples(decoded: Sequence[Decoded]) -> str:
    """Markdown with EXAMPLES lines of all `decoded` texts: source, output and reference. The seed is fixed and stated."""
    every = [(one.name, *texts) for one in decoded for texts in zip(one.sources, one.outputs, one.references, strict=True)]
    drawn = sorted(random.Random(SEED).sample(range(len(every)), min(EXAMPLES, len(every))))
    rows = [tuple(text.replace("|", "\\|") for text in every[place]) for place in drawn]
    said = f"{len(rows)} of all {len(every):,} lines, drawn by Python's `random.Random({SEED}).sample`:\n\n"
    return said + markdown(("set", "source", "output", "reference"), rows, 4)
