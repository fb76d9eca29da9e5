"""Operations from configurations equal those that PyTorch counts."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from specdec_cli.model import flops
from specdec_cli.model.attention import PrefixMask, additive_mask
from specdec_cli.model.bundle import Bundle
from specdec_cli.model.cache import Cache
from specdec_cli.model.drafter import BlockDrafter, Heads
from specdec_cli.model.drafter_config import DrafterConfig, HeadsConfig
from specdec_cli.model.slot_link import SlotLink
from specdec_cli.model.transformer import Transformer

SOURCE, TARGET = 11, 7


@contextmanager
def counting() -> Iterator[FlopCounterMode]:
    """A context manager that counts operations. Attention uses the backend MATH, whose matrix products the counter can count."""
    with torch.no_grad(), sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        yield counter


def ids(length: int) -> torch.Tensor:
    return torch.arange(5, 5 + length)[None]


@pytest.mark.parametrize("changes", [{}, {"width": 48, "heads": 3, "encoder_layers": 3, "decoder_layers": 1, "output_bias": True}])
def test_a_forward_pass(make_bundle: Callable[..., Bundle], changes: dict[str, Any]) -> None:
    model = make_bundle(**changes).verifier
    with counting() as counter:
        model(ids(SOURCE), ids(TARGET))
    assert counter.get_total_flops() == flops.forward(model.config, SOURCE, TARGET)


def test_an_update_computes_three_times_the_products_of_a_forward_pass(make_bundle: Callable[..., Bundle]) -> None:
    model: Transformer = make_bundle().verifier
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        model(ids(SOURCE), ids(TARGET)).sum().backward()
    assert counter.get_total_flops() == flops.UPDATE * flops.forward(model.config, SOURCE, TARGET)


@pytest.mark.parametrize(("before", "positions"), [(0, 1), (4, 1), (3, 5)])
def test_a_pass_over_new_positions(make_bundle: Callable[..., Bundle], before: int, positions: int) -> None:
    model = make_bundle().verifier
    config, keys = model.config, before + positions
    with torch.no_grad():
        memory = model.encode(ids(SOURCE))
    cache = Cache.empty(config.decoder_layers, 1, keys, config.heads, config.head_width, memory.states)
    places = torch.arange(before, keys)[None]
    with counting() as counter:
        model.output(model.decode(ids(positions), places, PrefixMask(places + 1, keys, torch.float32), memory, cache.at(places)))
    assert counter.get_total_flops() == flops.decode(config, SOURCE, positions, keys) + flops.project(config, positions)


@pytest.mark.parametrize("rank", [0, 16])
@pytest.mark.parametrize("slots", [1, 4])
def test_heads(make_bundle: Callable[..., Bundle], rank: int, slots: int) -> None:
    model = make_bundle().verifier
    heads = Heads(HeadsConfig(max_block=4, feed_forward=64, chain=rank, candidates=3, start=True), model)
    with counting() as counter:
        heads.choose(heads(torch.zeros(1, model.config.width), slots), ids(1)[0])
    one = flops.DraftPass(SOURCE, slots, prefix=4, fed=0)
    assert counter.get_total_flops() == flops.draft(model.config, heads.config, one)
    memory = model.encode(ids(SOURCE))
    with counting() as counter:
        heads.first_states(memory)
    assert counter.get_total_flops() == flops.read_source(model.config, heads.config, SOURCE)


@pytest.mark.parametrize("recurrent", [False, True])
@pytest.mark.parametrize("slots", [1, 5])
def test_a_slot_link(make_bundle: Callable[..., Bundle], slots: int, recurrent: bool) -> None:
    model = make_bundle().verifier
    width = model.config.width
    chain, config = SlotLink(width, 16, recurrent=recurrent), DrafterConfig(chain=16, recurrent=recurrent, candidates=3)
    with counting() as counter:
        chain.choose(torch.zeros(1, slots, width), ids(1)[0], model, 3)
    assert counter.get_total_flops() == flops.project(model.config, slots) + flops.link(width, config, slots)


OWN = {"prefix": "own", "encoder": "own", "embeddings": "own", "chain": 0}
DRAFTERS: tuple[dict[str, Any], ...] = (
    {},
    {"recurrent": True},
    {"chain": 0, "source_copy": True, "layers": 2},
    OWN,
    {"prefix": "own", "encoder": "own", "layout": "unshifted", "source_copy": True},
    OWN | {"attention": "bidirectional", "initial": "random", "model": {"width": 48, "heads": 3, "encoder_layers": 2}},
)


@pytest.mark.parametrize("changes", DRAFTERS)
def test_a_block_drafter(make_bundle: Callable[..., Bundle], changes: dict[str, Any]) -> None:
    model = make_bundle().verifier
    config = DrafterConfig(**{"feed_forward": 64, "chain": 16, "candidates": 3, "max_block": 4} | changes)
    network = BlockDrafter(config, model)
    memory = model.encode(ids(SOURCE))
    with counting() as counter:
        view = network.read_source(ids(SOURCE), memory)
    assert counter.get_total_flops() == flops.read_source(model.config, config, SOURCE)
    prefix, slots, fed = 6, 4, 2
    places = torch.arange(prefix, prefix + slots)[None]
    last = ids(1)[0]
    with counting() as counter:
        if config.prefix == "states":
            previous = torch.zeros(1, 1, model.config.width)
            x = network.embed_block(last[:, None], places[:, None], view, previous)[:, 0]
        else:
            whole = torch.arange(prefix if config.attention == "bidirectional" else fed)[None]
            block = network.embed_block(last[:, None], places[:, None], view, None)[:, 0]
            x = torch.cat([network.embed_prefix(whole + 5, whole), block], dim=1)
            places = torch.cat([whole, places], dim=1)
        keys = x.shape[1] if config.attention == "bidirectional" else prefix + slots
        cache = Cache.empty(config.layers, 1, prefix + slots, network.heads, network.head_width, memory.states)
        mask = additive_mask(torch.ones(1, 1, x.shape[1], keys, dtype=torch.bool), torch.float32)
        states = network.run(x, places, mask, view, None if config.attention == "bidirectional" else cache.at(places))
        network.choose(states[:, -slots:], last)
    assert counter.get_total_flops() == flops.draft(model.config, config, flops.DraftPass(SOURCE, slots, prefix, fed))


def test_states_of_the_verifier_are_projected(make_bundle: Callable[..., Bundle]) -> None:
    model = make_bundle().verifier
    network = BlockDrafter(DrafterConfig(feed_forward=64, layers=2), model)
    with counting() as counter:
        network.project_states(torch.zeros(1, 5, model.config.width))
    assert counter.get_total_flops() == flops.read_states(model.config, network.config, 5)
