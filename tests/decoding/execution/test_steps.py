"""Steps of a round, which may be captured, do not wait for the GPU."""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from unittest import mock

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from specdec_cli.decoding.drafters.block import Block
from specdec_cli.decoding.drafters.none import NoDrafter
from specdec_cli.decoding.execution.operators import OperatorExecution
from specdec_cli.decoding.loop import Round, decode
from specdec_cli.decoding.options import Decoding, Exact, FixedPoint, Rule, Tolerant
from specdec_cli.decoding.state import State
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.rows import tensors
from tests.fakes import DRAFTERS, make_sentences, tiny_drafter, tiny_transformer

R = TypeVar("R")


class OnOneDevice(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Raises an error if a tensor is read or created on another device than "meta", because copying it would wait."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        assert all(tensor.is_meta for tensor in tensors([args, list((kwargs or {}).values()), made])), func
        return made


@pytest.mark.parametrize("rule", [Exact(), Tolerant(2, 1.0), FixedPoint()])
@pytest.mark.parametrize("kind", ["none", "states", "states, no chain", "states, two layers, copy, encoder"])
@torch.inference_mode()
def test_a_round_creates_no_tensor_on_another_device(kind: str, rule: Rule) -> None:
    """On the device "meta" tensors have no values, so code that waits for values fails."""
    model = tiny_transformer()
    network = tiny_drafter(model, **DRAFTERS.get(kind, {})).to("meta")
    kinds: set[str] = set()
    number = torch.Tensor.__int__

    def run(name: tuple[Hashable, ...], step: Callable[..., R], state: State, *inputs: Tensor) -> R:
        kinds.add(str(name[0]))
        step(state, *inputs)  # fills caches
        with mock.patch.object(torch.Tensor, "__int__", number), OnOneDevice():  # type: ignore[no-untyped-call]
            return step(state, *inputs)

    verifier = Verifier(model.to("meta"), forced=7)
    verifier.execution = OperatorExecution(model.choices, model.config.eos, run)
    drafter = NoDrafter() if kind == "none" else Block(network, 5, run)
    options = Decoding(acceptance=rule, batch_size=2, with_scores=True)
    with mock.patch.object(torch.Tensor, "__int__", lambda _: 0), rounds(3) as look:
        list(decode(verifier, drafter, make_sentences(2), options, look))
    assert kinds == ({"score", "judge", "advance"} if kind == "none" else {"propose", "score", "judge", "observe", "advance"})


class _Enough(Exception):
    """Raised after the requested number of rounds."""


@contextmanager
def rounds(number: int) -> Iterator[Callable[[Round], None]]:
    """An onlooker that stops decoding after a number of rounds."""
    seen = 0

    def look(_: Round) -> None:
        nonlocal seen
        seen += 1
        if seen == number:
            raise _Enough

    with pytest.raises(_Enough):
        yield look
