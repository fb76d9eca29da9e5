"""The memory for batches bounds the number of sentences that are decoded together."""

import weakref
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from specdec_cli.decoding import graphs
from specdec_cli.decoding.beam_round import BeamRound
from specdec_cli.decoding.options import BeamSearch, Decoding, DecodingOptions, resolve
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.engines.reference import Engine
from specdec_cli.model.bundle import Bundle
from specdec_cli.model.rows import tensors
from tests.decoding.imitation import imitated
from tests.fakes import make_sentences, tiny_transformer


def test_memory_limits_the_rows_of_a_batch(bundle: Bundle) -> None:
    wide = Engine(bundle, resolve(DecodingOptions(decoding="greedy", batch_size=64), bundle))
    row = wide.verifier.row_bytes(32)
    narrow = Engine(bundle, resolve(DecodingOptions(decoding="greedy", batch_size=64, memory=5 * row), bundle))
    assert wide._rows(32, 1000) == 64
    assert narrow._rows(32, 1000) == 5
    assert narrow._rows(512, 1000) == 1
    assert wide._rows(32, 3) == 3


class Peak(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """The largest number of bytes of tensors that operators made and that are alive at a time."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.now = self.most = 0
        self._known: dict[int, int] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for tensor in tensors([result]):
            storage = tensor.untyped_storage()
            place = storage.data_ptr()
            if storage.nbytes():
                self._known[place] = self._known.get(place, 0) + 1
                if self._known[place] == 1:
                    self.now += storage.nbytes()
                    self.most = max(self.most, self.now)
                weakref.finalize(tensor, self._drop, place, storage.nbytes())
        return result

    def _drop(self, place: int, size: int) -> None:
        self._known[place] -= 1
        if not self._known[place]:
            self.now -= size


@pytest.mark.parametrize("precision", [torch.float32, torch.float16])
@torch.inference_mode()
def test_a_captured_search_is_given_the_memory_that_it_needs(precision: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "can_branch", lambda _: False)
    model = tiny_transformer(vocabulary_size=30_000).to(precision)
    imitation, beam, rows = imitated(model), 4, 6
    options = Decoding(method="beam", search=BeamSearch(beam_size=beam), max_length=8)
    round_ = BeamRound(imitation.verifier, options)
    batch = round_.begin(make_sentences(rows))
    with (peak := Peak()):
        round_.play(batch, 0)
    given = rows * beam * round_.token_bytes * model.config.vocabulary_size
    assert 0.7 * given < peak.most <= given


def test_a_captured_search_has_fewer_rows_than_one_that_reads_values(bundle: Bundle) -> None:
    options = resolve(DecodingOptions(decoding="beam", beam_size=4, batch_size=64, memory=1), bundle)
    captured, plain = imitated(bundle.verifier).verifier, Verifier(bundle.verifier)
    options = replace(options, memory=4 * 9 * plain.row_bytes(32))
    assert Engine(bundle, options, verifier=plain)._rows(32, 1000) == 9
    assert Engine(bundle, options, verifier=captured)._rows(32, 1000) < 9
