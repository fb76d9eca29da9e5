"""Rounds that read no value on the host: every capturable drafter plays them at fixed widths and fixed addresses."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from specdec_cli.decoding.drafters import Drafter, NoDrafter
from specdec_cli.decoding.drafters.copying import GivenDrafts, SourceCopy
from specdec_cli.decoding.drafters.fallback import Fallback
from specdec_cli.decoding.drafters.jacobi import Jacobi
from specdec_cli.decoding.drafters.networks import Block, Blockwise
from specdec_cli.decoding.drafters.suffix import Lookup, NgramMemory
from specdec_cli.decoding.lengths import by_source
from specdec_cli.decoding.loop import decode_with
from specdec_cli.decoding.options import Constraints, Decoding, Exact, FixedPoint, Margin, Rule, Tolerant
from specdec_cli.decoding.pace import FixedPace
from specdec_cli.decoding.rounds import DraftAndVerify
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.rows import tensors
from specdec_cli.model.transformer import Transformer
from specdec_cli.text.tokenize.sentencepiece import EOS, PADDING
from tests.fakes import DRAFTERS, VOCABULARY, make_sentences, tiny_drafter, tiny_heads, tiny_transformer

LONGEST = 20
MADE: dict[str, Callable[[Transformer, torch.device], Drafter]] = {
    "none": lambda model, device: NoDrafter(),  # noqa: ARG005
    "block": lambda model, device: Block(tiny_drafter(model).to(device), 5),
    "block, no chain": lambda model, device: Block(tiny_drafter(model, **DRAFTERS["states, no chain"]).to(device), 5),
    **{
        kind: lambda model, device, kind=kind: Block(tiny_drafter(model, **DRAFTERS[kind]).to(device), 5)  # type: ignore[misc]
        for kind in ("own", "own, unshifted, copy, encoder", "both ways", "papers")
    },
    "heads": lambda model, device: Blockwise(tiny_heads(model).to(device), 5),
    "lookup": lambda model, device: Lookup(5, EOS, PADDING),  # noqa: ARG005
    "ngram-memory": lambda model, device: NgramMemory(5, VOCABULARY, device),  # noqa: ARG005
    **{
        match: lambda model, device, match=match: SourceCopy(match, EOS, torch.ones(VOCABULARY, dtype=torch.bool, device=device))  # type: ignore[misc]  # noqa: ARG005
        for match in ("unique", "unique-3", "nearest")
    },
    "given": lambda model, device: GivenDrafts(SourceCopy("nearest", EOS, torch.ones(VOCABULARY, dtype=torch.bool, device=device))),  # noqa: ARG005
    "jacobi": lambda model, device: Jacobi(0, PADDING, by_source(1.0), beyond=3),  # noqa: ARG005
    "gs-jacobi": lambda model, device: Jacobi(5, PADDING),  # noqa: ARG005
    "whole blocks": lambda model, device: Jacobi(5, PADDING, whole_blocks=True),  # noqa: ARG005
    "chain": lambda model, device: Fallback([Lookup(5, EOS, PADDING), Block(tiny_drafter(model).to(device), 4)], 9),
}
RULES: Sequence[Rule] = (Exact(), Tolerant(2, 1.0), Margin(0.5), FixedPoint())


class OnMeta(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Raises an error if a tensor is read or created on another device than "meta", whose tensors have no values to wait for."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        assert all(tensor.is_meta for tensor in tensors([args, list((kwargs or {}).values()), result])), func
        return result


def texts(count: int) -> list[Sentence]:
    """Sentences that come with a draft, whose first two tokens begin the output."""
    return [Sentence(each.number, each.source, draft=[9, *each.source], prefix=2) for each in make_sentences(count)]


def round_of(verifier: Verifier, drafter: Drafter, rule: Rule) -> DraftAndVerify:
    return DraftAndVerify(verifier, drafter, Decoding(acceptance=rule, max_length=LONGEST, with_scores=True))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("size", [0, 3])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", MADE)
@torch.inference_mode()
def test_a_round_reads_no_value(kind: str, rule: Rule, size: int) -> None:
    model = tiny_transformer()
    drafter = MADE[kind](model, torch.device("meta"))
    verifier = Verifier(model.to("meta"), forced=7)
    round_ = round_of(verifier, drafter, rule)
    batch = round_.begin(texts(2))
    round_.play(batch, size)  # fills caches
    assert drafter.capturable
    with OnMeta():  # type: ignore[no-untyped-call]
        for _ in range(3):
            round_.play(batch, size)


@pytest.mark.parametrize("rounds", [1, 4, 8])
@pytest.mark.parametrize("kind", ["none", "block", "nearest", "jacobi", "chain"])
def test_bursts_give_the_same_output(kind: str, rounds: int) -> None:
    model, sentences = tiny_transformer(), make_sentences(9)
    drafter, options = MADE[kind](model, torch.device("cpu")), Decoding(batch_size=4, max_length=LONGEST, with_scores=True)
    expected = {result.number: result for result in decode_with(Verifier(model), NoDrafter(), sentences, options)}
    results = list(decode_with(Verifier(model), drafter, sentences, options, pace=FixedPace(4, rounds)))
    assert {result.number: result.ids for result in results} == {number: result.ids for number, result in expected.items()}
    assert all(result.log_probabilities == expected[result.number].log_probabilities for result in results)
    assert all(result.rounds <= expected[result.number].rounds for result in results)


@pytest.mark.parametrize("kind", MADE)
@torch.inference_mode()
def test_rounds_write_to_fixed_addresses_and_keep_the_output(kind: str) -> None:
    model, make = tiny_transformer(), MADE[kind]
    verifier, sentences = Verifier(model, constraints=Constraints(no_repeat_ngram_size=3)), texts(6)
    rule: Rule = FixedPoint() if kind == "whole blocks" else Exact()
    drafter = make(model, torch.device("cpu"))
    assert drafter.capturable
    round_ = round_of(verifier, drafter, rule)
    batch = round_.begin(sentences)
    addresses = [tensor.data_ptr() for tensor in tensors(batch)]
    for number in range(200):
        if bool(batch.state.finished.all()):
            break
        round_.play(batch, number % 7)  # 0: the drafter's own size
        assert [tensor.data_ptr() for tensor in tensors(batch)] == addresses
    options = Decoding(acceptance=rule, max_length=LONGEST, with_scores=True)
    for result in decode_with(verifier, make(model, torch.device("cpu")), sentences, options):
        length = int(batch.state.lengths[result.number])
        assert batch.state.tokens[result.number, 1:length].tolist() == result.ids
        assert batch.state.log_probabilities[result.number, 1:length].tolist() == list(result.log_probabilities)
