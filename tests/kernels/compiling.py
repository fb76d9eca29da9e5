"""Compile the kernels for a card that is not there: `python -m tests.kernels.compiling 90` (compute capability times ten).

Prints JSON: the largest shared memory in bytes of each kernel that was compiled, and the errors. Kernels are compiled to machine code and
not run: what they would write is 1. So rounds are cut short after a few bursts.
"""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any
from unittest import mock

import torch
from torch import nn
from triton.backends.compiler import GPUTarget
from triton.runtime import driver
from triton.runtime.jit import JITFunction

from specdec_cli.decoding.drafters import Drafter, NoDrafter
from specdec_cli.decoding.drafters.networks import Block
from specdec_cli.decoding.drafters.suffix import Lookup
from specdec_cli.decoding.graph_player import GraphPlayer
from specdec_cli.decoding.loop import decode_by_search, decode_with
from specdec_cli.decoding.options import BeamSearch, Constraints, Decoding, FixedPoint, Margin, Sampled, Tolerant
from specdec_cli.kernels import network, support, tiles
from specdec_cli.kernels.attention import attend
from specdec_cli.kernels.drafter import TritonDrafter
from specdec_cli.kernels.linear import linear
from specdec_cli.kernels.link import choose, link_tables
from specdec_cli.kernels.network import TritonNetwork
from specdec_cli.kernels.norm import norm
from specdec_cli.kernels.vocabulary import best_tokens
from specdec_cli.model.slot_link import SlotLink
from specdec_cli.text.tokenize.sentencepiece import EOS, PADDING
from tests.decoding.imitation import imitated
from tests.fakes import RELATIVE, RELATIVE_SHAPE, VOCABULARY, make_sentences, tiny_drafter, tiny_transformer

SHARED_MEMORY = {75: 64 << 10, 80: 163 << 10, 86: 99 << 10, 90: 227 << 10, 100: 227 << 10, 120: 99 << 10}
"""Bytes of shared memory that a kernel may have, by compute capability."""
BURSTS = 2
"""Bursts of a decoding: the graphs of the later ones have the same kernels."""


class Card:
    """Stands for the driver of a card of a compute capability."""

    def __init__(self, capability: int) -> None:
        self.target = GPUTarget("cuda", capability, 32)

    def get_current_target(self) -> GPUTarget:
        """The card to compile for."""
        return self.target

    def get_current_device(self) -> int:
        """The only device."""
        return 0

    def get_current_stream(self, _: int) -> int:
        """The only stream."""
        return 0


class EnoughError(Exception):
    """A decoding has launched the bursts that are of interest."""


class Compiler:
    """Compiles kernels where they are launched, and keeps their sizes and errors."""

    def __init__(self) -> None:
        self.shared: dict[str, int] = {}
        self.errors: list[str] = []
        self._run = JITFunction.run

    def launch(self, kernel: Any, *args: Any, grid: Any, warmup: bool, **options: Any) -> None:  # noqa: ARG002
        """Compile a kernel that is launched."""
        name = kernel.fn.__name__
        try:
            compiled = self._run(kernel, *args, grid=grid, warmup=True, **options)
        except Exception as error:  # of the compiler or the assembler
            self.errors.append(f"{name}: {type(error).__name__}: {error}")
            return
        self.shared[name] = max(self.shared.get(name, 0), compiled.metadata.shared)


def limited(launch: Callable[..., None]) -> Callable[..., None]:
    """`launch` of GraphPlayer, which raises EnoughError after the first BURSTS bursts of a player."""

    def launched(player: Any, rounds: int, size: int) -> None:
        if player._launched == BURSTS:
            raise EnoughError
        launch(player, rounds, size)

    return launched


def decodings() -> Iterator[tuple[Drafter, Constraints | None, dict[str, Any]]]:
    """Drafters, constraints and options whose rounds have all kernels, for a tiny model in float16."""
    forms = bytes(4 * VOCABULARY)
    yield NoDrafter(), Constraints(most_copies=1, forms=(forms, forms), forced_end=True), {}
    for rule in (Tolerant(3, 1.0), Margin(0.4), Sampled(0.5, 3), FixedPoint()):
        yield Lookup(3, EOS, PADDING), None, {"acceptance": rule, "with_scores": True}
    yield NoDrafter(), None, {"search": BeamSearch(beam_size=3, n_best=3)}


def play_rounds() -> None:
    """Launch the rounds of a tiny model."""
    model = tiny_transformer(decoder_layers=1).half()
    linked = Block(TritonDrafter(tiny_drafter(model, chain=8, recurrent=True).half()), 3)
    for each, rules, options in ((linked, None, dict[str, Any]()), *decodings()):
        verifier = imitated(TritonNetwork(model), None, rules, calls=True).verifier
        decoding = Decoding(batch_size=3, max_length=6, **options)
        with suppress(EnoughError):
            if "search" in options:
                list(decode_by_search(verifier, make_sentences(5), decoding))
            else:
                list(decode_with(verifier, each, make_sentences(5), decoding))


def read_relative() -> None:
    """Launch the passes of a tiny model of T5's form."""
    for kind in (torch.bfloat16, torch.float32):
        network = TritonNetwork(tiny_transformer(**RELATIVE_SHAPE | RELATIVE["gated"]).to(kind))
        ids = torch.ones(2, 5, dtype=torch.long)
        network.teach(network.encode(ids), ids)


def launch_large() -> None:
    """Launch kernels with the widest heads, rows and slot link, the largest vocabulary, and tiles of many rows."""
    for kind in (torch.float16, torch.bfloat16, torch.float32):
        wide, normed = nn.Linear(1024, 2048).to(kind), nn.LayerNorm(1024).to(kind)
        for rows in (1, tiles.MANY + 1):
            x = torch.ones(rows, 1, 1024, dtype=kind)
            linear(x, wide, norm=normed, activation="gelu")
            linear(x, wide, activation="silu")
            linear(x, wide, norm=nn.RMSNorm(1024, eps=1e-6).to(kind))
        vocabulary = nn.Linear(64, 2**18).to(kind)
        best_tokens(torch.ones(tiles.MANY + 1, 64, dtype=kind), vocabulary, best=16, totals=True)
        best_tokens(torch.ones(tiles.MANY + 1, 1024, dtype=kind), wide, best=2)
        for head in (80, 128):
            attend(torch.ones(2, 5, 2 * head, dtype=kind), torch.ones(2, 64, 2, 2, head, dtype=kind), torch.ones(2, 5, dtype=torch.long))
        norm(torch.ones(2, tiles.WIDEST_ROW, dtype=kind), nn.LayerNorm(tiles.WIDEST_ROW).to(kind))
        model = tiny_transformer().to(kind)
        link, tokens = SlotLink(model.config.width, support.WIDEST_LINK, recurrent=True).to(kind), torch.ones(2, dtype=torch.long)
        choose(torch.ones(2, 3, model.config.width, dtype=kind), tokens, link, model, link_tables(link, model), 16)


def main(capability: int) -> None:
    """Compile everything for a card, and print what was found."""
    compiler = Compiler()
    driver.set_active(Card(capability))
    has_wide_memory = SHARED_MEMORY[capability] >= tiles.WIDE_MEMORY
    patches: list[Any] = [
        mock.patch.object(JITFunction, "run", lambda kernel, *args, **options: compiler.launch(kernel, *args, **options)),
        mock.patch.object(GraphPlayer, "launch", limited(GraphPlayer.launch)),
        mock.patch.object(network, "supported", lambda *_: None),
        mock.patch.object(support, "supported", lambda *_: None),
        mock.patch.object(tiles, "_has_wide_memory", lambda _: has_wide_memory),
        mock.patch.object(torch, "empty", torch.ones),
        mock.patch.object(torch, "empty_like", torch.ones_like),
        mock.patch.object(torch.Tensor, "new_empty", torch.Tensor.new_ones),
    ]
    for patch in patches:
        patch.start()
    with torch.no_grad():
        play_rounds()
        read_relative()
        launch_large()
    print(json.dumps({"shared": compiler.shared, "errors": compiler.errors}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
