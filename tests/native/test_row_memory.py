"""Rows whose outputs need more places for keys and values than they have at first."""

import random
from dataclasses import replace

import pytest

from specdec_cli.model.bundle_info import describe_bundle
from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.native.model import NativeModel
from specdec_cli.opening.models import SHIPPED
from tests.native.decoding_requests import Request, decode

SHORT = (3, 30, 9, 1, 17, 5)
"""Tokens of sources, without EOS; each output has at least 60."""
REQUESTS = (
    Request(with_scores=True),
    Request("lookup", block_size=15, with_scores=True),
    Request("specdec", block_size=10, with_scores=True),
    Request("specdec", block_size=10, top_beta=5, tolerance=3.0, with_scores=True),
    Request("beam", beam_size=3, n_best=3),
)


@pytest.fixture(scope="module")
def model() -> NativeModel:
    bundle, folder = describe_bundle(SHIPPED / "en-de"), SHIPPED / "en-de"
    assert isinstance(bundle.drafter_config, DrafterConfig)
    verifier, drafter = (folder / part / "model.safetensors" for part in ("verifier", "drafter"))
    return NativeModel(bundle.shape, verifier, bundle.drafter_config, drafter)


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda request: f"{request.decoding}-{request.top_beta}")
def test_outputs_that_outgrow_their_rows_equal_those_of_one_row_with_room_for_all(model: NativeModel, request_: Request) -> None:
    generator = random.Random(1)
    sources = [[*generator.choices(range(8, 2000), k=length), 3] for length in SHORT]
    long = replace(request_, min_length=60, max_length=80, forced_end=True)
    alone = sorted(decode(model, sources, long), key=lambda each: each.number)
    assert min(len(each.ids) for each in alone) > 60
    for batch in (2, 5):
        assert sorted(decode(model, sources, replace(long, batch=batch)), key=lambda each: each.number) == alone
