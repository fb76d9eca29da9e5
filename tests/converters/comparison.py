"""Decoding by specdec and by transformers, for comparison."""

from collections.abc import Sequence
from typing import Any

import torch

from specdec_cli.decoding.options import DecodingOptions, resolve
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.engines.reference import Engine
from specdec_cli.model.bundle import Bundle
from tests.conftest import make_lines

LONGEST = 40


def sources_of(made: Any) -> list[list[int]]:
    """Sources of 1 to 200 tokens without special tokens: text, and random ids for the long ones."""
    frame = made.encode("")
    texts = [made.encode(line) for line in make_lines(20, seed=5)]
    generator = torch.Generator().manual_seed(1)
    before = [token for token in frame[:1] if token != 2 and frame[0] != made.model.config.eos_token_id]
    after = frame[len(before) :]
    long = [torch.randint(4, 50, (length,), generator=generator).tolist() for length in (1, 2, 3, 16, 17, 40, 99, 200)]
    return texts + [[*before, *text, *after] for text in long]


def decode(bundle: Bundle, sources: Sequence[Sequence[int]], **request: Any) -> list[list[int]]:
    """The output ids of specdec for each source."""
    engine = Engine(bundle, resolve(DecodingOptions(**{"max_length": LONGEST} | request), bundle))
    found = {h.number: h.ids for h in engine.decode([Sentence(n, source) for n, source in enumerate(sources)])}
    return [found[n] for n in range(len(sources))]


def generate(made: Any, sources: Sequence[Sequence[int]], **settings: Any) -> list[list[int]]:
    """The output ids of transformers for each source, decoded one by one, without the decoder start and padding.

    The generation settings are those of the model, with the given changes.
    """
    eos, outputs = made.model.config.eos_token_id, []
    for source in sources:
        ids = made.model.generate(torch.tensor([list(source)]), **settings | made.generation)[0, 1:].tolist()
        outputs.append(ids[: ids.index(eos) + 1] if eos in ids else ids)
    return outputs
