"""Operations counted from rounds equal those that PyTorch counts while it decodes."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from specdec_cli.benchmark.instruments import CountingEngine, countable
from specdec_cli.decoding.options import DecodingOptions, resolve
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.model import flops
from specdec_cli.model.bundle import Bundle
from specdec_cli.model.drafter import BlockDrafter, Heads
from specdec_cli.model.drafter_config import DrafterConfig, HeadsConfig
from specdec_cli.model.transformer import Transformer

LINEAR = {torch.ops.aten.mm, torch.ops.aten.addmm}
SOURCES = [[*range(5, 20), 3], [*range(40, 70, 2), 3]]
OWN = {"prefix": "own", "encoder": "own", "embeddings": "own"}


def with_drafter(bundle: Bundle, decoding: str, changes: dict[str, Any]) -> Bundle:
    torch.manual_seed(1)
    if decoding == "blockwise":
        drafter: Any = Heads(HeadsConfig(max_block=3, feed_forward=64, start=bool(changes)), bundle.verifier)
    else:
        drafter = BlockDrafter(DrafterConfig(feed_forward=64, max_block=3, chain=0, **changes), bundle.verifier)
    return Bundle(bundle.info, bundle.tokenizer, bundle.verifier, drafter)


@pytest.mark.parametrize(
    ("decoding", "changes"),
    [
        ("greedy", {}),
        ("beam", {}),
        ("input-guided", {}),
        ("gs-jacobi", {}),
        ("blockwise", {"start": True}),
        ("specdec", {"layers": 2}),
        ("specdec", OWN),
        ("specdec", OWN | {"attention": "bidirectional"}),
        ("drafter", {}),
        ("drafter", OWN),
        ("drafter", {"prefix": "own"}),
    ],
)
def test_products_with_weights_are_counted(
    decoding: str, changes: dict[str, Any], make_bundle: Callable[..., Bundle], monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = with_drafter(make_bundle(), decoding, changes)
    monkeypatch.setattr(bundle.verifier, "row_multiple", 1)  # no positions of padding
    monkeypatch.setattr(Transformer, "batch_invariant", False)  # the cache of a model in floating point is initialised
    # Attention is over the capacity of the cache, which is not that of the algorithm: leave it out on both sides.
    decode, encode = flops.decode, flops.encode
    monkeypatch.setattr(flops, "decode", lambda config, source, positions, keys: decode(config, source, positions, -source + 0 * keys))
    monkeypatch.setattr(
        flops, "encode", lambda config, source: encode(config, source) - config.encoder_layers * 4 * source**2 * config.width
    )
    request = DecodingOptions(decoding=decoding, block_size=None if decoding in ("greedy", "beam") else 3, max_length=9)
    engine = CountingEngine(bundle, resolve(request, bundle))
    with torch.no_grad(), sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        found = list(engine.decode([Sentence(number, source) for number, source in enumerate(SOURCES)]))
    counted = counter.get_flop_counts()["Global"]
    drafts = 0 if decoding in ("greedy", "beam", "input-guided", "gs-jacobi") else 1
    assert (engine.operations["drafter"] > 0) == bool(drafts)
    assert sum(engine.operations.values()) == sum(number for kind, number in counted.items() if kind in LINEAR)
    assert len(found) == 2


def test_mask_predict_is_counted_for_the_length_of_its_output(make_bundle: Callable[..., Bundle]) -> None:
    bundle = make_bundle(order="masked")
    counts = {}
    for passes in (1, 4):
        request = DecodingOptions(decoding="mask-predict", iterations=passes, length_beam=2, max_length=6)
        engine = CountingEngine(bundle, resolve(request, bundle))
        (found,) = engine.decode([Sentence(0, SOURCES[0])])
        length, config = len(found.ids), bundle.verifier.config
        counts[passes] = engine.operations["verifier"] - flops.read_memory(config, 16) - 2 * 32 * 129
    first = flops.decode(config, 16, length, length) + flops.project(config, length - 1)
    assert counts[1] == 2 * first
    assert 4 * 2 * first > counts[4] > 2 * 2 * first


def test_chains_with_a_trained_drafter_cannot_be_counted() -> None:
    assert [countable(name) for name in ("specdec", "lookup,gs-jacobi", "lookup,specdec", "auto")] == [True, True, False, True]
