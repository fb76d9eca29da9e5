"""One property of all drafters: the output is that of greedy decoding, whatever the batch, the block size, the precision and the model."""

from collections.abc import Callable
from functools import cache
from itertools import product
from math import ceil
from typing import Any

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from specdec_cli.decoding.costs import Costs
from specdec_cli.decoding.drafters import Drafter, NoDrafter
from specdec_cli.decoding.drafters.copying import SourceCopy
from specdec_cli.decoding.drafters.fallback import SHORTEST, Fallback
from specdec_cli.decoding.drafters.jacobi import Jacobi
from specdec_cli.decoding.drafters.networks import Block, Blockwise
from specdec_cli.decoding.drafters.suffix import Lookup, NgramMemory
from specdec_cli.decoding.lengths import by_source
from specdec_cli.decoding.loop import OWN_SIZE, decode_with
from specdec_cli.decoding.options import Decoding, words
from specdec_cli.decoding.pace import AdaptivePace
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.drafter import BlockDrafter, Heads
from specdec_cli.model.transformer import Transformer
from specdec_cli.text.tokenize.sentencepiece import EOS, PADDING
from tests.fakes import (
    DRAFTERS,
    FEW_DRAFTERS,
    HEADS,
    RELATIVE,
    RELATIVE_SHAPE,
    VOCABULARY,
    in_precision,
    make_sentences,
    redraw,
    tiny_drafter,
    tiny_heads,
    tiny_transformer,
)

LONGEST = 30
MODELS = [*(("learned", each) for each in ("float32", "bfloat16", "int8")), *product(RELATIVE, ("float32", "int8"))]
"""Forms of positions, and precisions."""
FREE = Costs((3, 9), (1.0, 1.0), ((1.0, 1.0), (1.0, 1.0)), ((0.0, 0.0), (0.0, 0.0)))
WORD_STARTS = torch.arange(VOCABULARY) % 2 == 0
CPU = torch.device("cpu")
UNTRAINED: dict[str, Callable[[int], Drafter]] = {
    **{match: lambda size, match=match: SourceCopy(match, EOS, WORD_STARTS, size) for match in words("match")},  # type: ignore[misc]
    **{f"{match}, unbounded": lambda _, match=match: SourceCopy(match, EOS, WORD_STARTS) for match in words("match")},  # type: ignore[misc]
    "jacobi": lambda _: Jacobi(0, PADDING, by_source(1.0), beyond=SHORTEST),
    "gs-jacobi": lambda size: Jacobi(size, PADDING),
    "hybrid-jacobi": lambda size: Jacobi(size, PADDING, by_source(0.5)),
    "ngram-memory": lambda size: NgramMemory(size, VOCABULARY, CPU),
    "lookup": lambda size: Lookup(size, EOS, PADDING),
    "chain": lambda size: Fallback([Lookup(size, EOS, PADDING), NgramMemory(3, VOCABULARY, CPU), Jacobi(3, PADDING)], 9),
}
"""Functions that make each kind of drafter without a network, given the block size."""


def model_of(form: str) -> Transformer:
    """A model with relative positions of a `form`, or with learned ones."""
    if form == "learned":
        return tiny_transformer()
    model = tiny_transformer(5, **RELATIVE_SHAPE | RELATIVE[form])
    redraw(model)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if name.endswith(("cross_attention.output.weight", "outer.weight")):
                weight.mul_(3)
    return model


@cache
def outputs(form: str, precision: str, width: int) -> dict[int, list[int]]:
    """Greedy outputs of twelve sentences."""
    verifier = Verifier(in_precision(model_of(form), precision))
    found = {
        h.number: h.ids for h in decode_with(verifier, NoDrafter(), make_sentences(12, width), Decoding(batch_size=12, max_length=LONGEST))
    }
    assert len(set(map(tuple, found.values()))) > 6
    return found


@cache
def networks(kind: str, form: str, precision: str) -> tuple[Verifier, BlockDrafter | Heads | None]:
    """A verifier, and the drafting network of a kind, if it has one, in the same precision."""
    model = model_of(form)
    network = tiny_drafter(model, **DRAFTERS[kind]) if kind in DRAFTERS else tiny_heads(model, **HEADS[kind]) if kind in HEADS else None
    in_precision(model, precision, network if precision == "int8" else None)
    if network is not None and precision == "bfloat16":
        network.lower_precision(torch.bfloat16)
    return Verifier(model), network


def reads_states_alone(drafter: dict[str, Any]) -> bool:
    """Whether a block drafter needs no positions of its own, so that its verifier may have relative ones."""
    return drafter.get("prefix", "states") == "states" and "positions" not in drafter and not drafter.get("source_copy")


@pytest.mark.parametrize("kind", [*FEW_DRAFTERS, *HEADS, *UNTRAINED])
@settings(deadline=None, max_examples=5)
@given(
    model=st.sampled_from(MODELS),
    width=st.sampled_from((16, 48)),
    count=st.integers(1, 12),
    block_size=st.integers(1, 6),
    batch_size=st.integers(1, 9),
    max_length=st.integers(1, LONGEST),
    adaptive=st.booleans(),
)
def test_the_output_is_greedys(
    kind: str, model: tuple[str, str], width: int, count: int, block_size: int, batch_size: int, max_length: int, adaptive: bool
) -> None:
    assume(model[0] == "learned" or kind not in DRAFTERS or reads_states_alone(DRAFTERS[kind]))
    verifier, network = networks(kind, *model)
    drafter: Drafter = UNTRAINED[kind](block_size) if network is None else (Blockwise if kind in HEADS else Block)(network, block_size)  # type: ignore[arg-type]
    pace = AdaptivePace(FREE, block_size) if adaptive else OWN_SIZE
    expected, decoding = outputs(*model, width), Decoding(batch_size=batch_size, max_length=max_length)
    for _ in range(2 if kind in ("ngram-memory", "chain") else 1):  # the second time with a filled memory
        found = list(decode_with(verifier, drafter, make_sentences(12, width)[:count], decoding, pace=pace))
        assert {h.number: h.ids for h in found} == {number: expected[number][:max_length] for number in range(count)}
        assert all(ceil(len(h.ids) / (drafter.limit + 1)) * bool(drafter.limit) <= h.rounds <= len(h.ids) for h in found)
