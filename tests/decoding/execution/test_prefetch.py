"""Prefetching: sources are encoded ahead on a stream."""

from functools import cache

import pytest

from specdec_cli.decoding.drafters import Drafter
from specdec_cli.decoding.drafters.block import Block
from specdec_cli.decoding.drafters.none import NoDrafter
from specdec_cli.decoding.loop import decode
from specdec_cli.decoding.options import Decoding
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.transformer import Transformer
from tests.decoding.execution.imitation import imitated
from tests.fake_drafters import FakeDrafter, right
from tests.fakes import make_sentences, tiny_drafter, tiny_transformer

LONGEST = 40


@cache
def pool() -> tuple[Transformer, list[Sentence], dict[int, list[int]]]:
    """A model, sentences of one source width, and their greedy outputs."""
    model, sentences = tiny_transformer(), make_sentences(11, 16)
    found = decode(Verifier(model), NoDrafter(), sentences, Decoding(batch_size=1, max_length=LONGEST))
    return model, sentences, {h.number: h.ids for h in found}


@pytest.mark.parametrize("batch_size", [1, 2, 5, 8, 40])
@pytest.mark.parametrize("kind", ["none", "states", "fake"])
def test_prefetched_sources_are_joined_before_use(kind: str, batch_size: int) -> None:
    model, sentences, outputs = pool()
    options = Decoding(batch_size=batch_size, max_length=LONGEST)
    made: dict[str, Drafter] = {"none": NoDrafter(), "states": Block(tiny_drafter(model), 4), "fake": FakeDrafter(outputs, 3, right)}
    imitation = imitated(model)
    stream = imitation.stream
    found = list(decode(imitation.verifier, made[kind], sentences, options))
    assert {h.number: h.ids for h in found} == outputs
    assert len(found) == len(sentences)
    assert stream.joined == sum(result is not None for result, _ in stream.started)
    assert (stream.joined > 0) == (batch_size < len(sentences))
