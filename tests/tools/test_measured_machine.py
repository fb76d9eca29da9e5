"""Measurements of the native engine on a machine: beside busy processes, and beside the least times of a round."""

import os
import shutil
from collections.abc import Iterable
from math import prod

import pytest

from specdec_cli.model.bundle_description import describe_bundle
from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.native.tensors import Named, drafter_tensors, verifier_tensors
from specdec_cli.opening.models import SHIPPED
from tools.busy import processors
from tools.busy.__main__ import Load, busy
from tools.busy.processors import Processors
from tools.floors.__main__ import measure_speeds
from tools.floors.work import decoder_work, drafter_work, encoder_work


def test_busy_processes_have_their_priority_and_share_the_session() -> None:
    with busy(Load(2, 19)) as running:
        assert [os.getpriority(os.PRIO_PROCESS, each) for each in running] == [min(os.getpriority(os.PRIO_PROCESS, 0) + 19, 19)] * 2
        assert {os.getsid(each) for each in running} == {os.getsid(0)}
    for each in running:
        with pytest.raises(ProcessLookupError):
            os.kill(each, 0)


def test_the_share_of_others_leaves_out_own_time(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = iter([(10.0, 20.0, 5.0), (14.0, 30.0, 8.0)])
    monkeypatch.setattr(processors, "_seconds", lambda: next(counts))
    assert Processors().share_of_others() == pytest.approx(0.1)


def matrices(tensors: Iterable[Named], unused: str) -> int:
    """The number of weights of the matrices whose names do not have this part."""
    return sum(prod(shape) for name, shape in tensors if name.endswith("weight") and len(shape) == 2 and unused not in name)


@pytest.mark.parametrize("name", ["en-de", "en-gec"])
def test_passes_read_all_matrices_of_a_model(name: str) -> None:
    bundle = describe_bundle(SHIPPED / name)
    config = bundle.shape
    output = config.vocabulary_size * config.width  # tied to the embedding
    assert encoder_work(config, 14).weights + decoder_work(config, 4).weights == matrices(verifier_tensors(config), "embedding") + output
    assert decoder_work(config, 4).products == 4 * decoder_work(config, 1).weights
    drafter = bundle.drafter_config
    if isinstance(drafter, DrafterConfig):
        own = matrices(drafter_tensors(drafter, config), "cross_attention.key_value")
        assert drafter_work(config, drafter, 3).weights == own + drafter.shortlist * config.width


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_speeds_are_measured() -> None:
    reading, multiplying = measure_speeds(2, 1 << 20)
    assert reading > 0 and multiplying > 0
