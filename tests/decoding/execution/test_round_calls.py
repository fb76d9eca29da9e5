"""The number of PyTorch calls of a round does not depend on the number of rows."""

from itertools import pairwise
from typing import Any

import pytest
import torch
from torch.overrides import TorchFunctionMode

from specdec_cli.decoding.drafters import Drafter
from specdec_cli.decoding.drafters.block import Block
from specdec_cli.decoding.drafters.blockwise import Blockwise
from specdec_cli.decoding.drafters.jacobi import Jacobi
from specdec_cli.decoding.drafters.lookup import Lookup
from specdec_cli.decoding.drafters.ngram_memory import NgramMemory
from specdec_cli.decoding.drafters.none import NoDrafter
from specdec_cli.decoding.drafters.source_copy import SourceCopy
from specdec_cli.decoding.loop import decode_with
from specdec_cli.decoding.options import Decoding, Exact, Rule, Tolerant
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.text.tokenize.sentencepiece import EOS, PADDING
from tests.fake_drafters import FakeDrafter, right
from tests.fakes import DRAFTERS, VOCABULARY, make_sentences, tiny_drafter, tiny_heads, tiny_transformer


class Calls(TorchFunctionMode):
    """Counts calls of PyTorch functions and methods."""

    count = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += 1
        return func(*args, **(kwargs or {}))


def calls_per_round(verifier: Verifier, drafter: Drafter, rule: Rule, rows: int) -> set[int]:
    """The numbers of calls of each round before a row can reach its limit."""
    seen: list[int] = []
    options = Decoding(acceptance=rule, batch_size=rows, max_length=30, with_scores=True)
    list(decode_with(verifier, drafter, make_sentences(rows), options))  # fills caches
    with Calls() as calls:
        list(decode_with(verifier, drafter, make_sentences(rows), options, lambda _: seen.append(calls.count)))
    return {later - earlier for earlier, later in pairwise(seen[:5])}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("rule", [Exact(), Tolerant(3, 1.0)])
@pytest.mark.parametrize("drafter", ["none", "fake", "input-guided", "jacobi", "lookup", "blockwise", "ngram-memory", *DRAFTERS])
def test_the_number_of_calls_does_not_grow_with_the_rows(drafter: str, rule: Rule) -> None:
    model = tiny_transformer()
    with torch.no_grad():
        model.output.bias[EOS] = -1e4  # all rows reach the limit, and none finishes before
    outputs = {number: [7] * 30 for number in range(8)}
    drafters: dict[str, Drafter] = {"none": NoDrafter(), "fake": FakeDrafter(outputs, 5, right)}
    drafters["input-guided"] = SourceCopy("nearest", EOS, torch.ones(VOCABULARY, dtype=torch.bool), 5)
    drafters["jacobi"] = Jacobi(5, PADDING)
    drafters["ngram-memory"] = NgramMemory(5, VOCABULARY, torch.device("cpu"))
    drafters["blockwise"] = Blockwise(tiny_heads(model), 5)
    drafters["lookup"] = Lookup(5, EOS, PADDING)
    made = drafters.get(drafter) or Block(tiny_drafter(model, **DRAFTERS[drafter]), 5)
    alone = calls_per_round(Verifier(model), made, rule, 1)
    together = calls_per_round(Verifier(model), made, rule, 8)
    assert len(alone) == 1 or drafter == "lookup"  # whose drafts may be empty
    assert max(together) <= max(alone)
