"""Simulation of a drafter: tokens per round of every block size on held-out text, and the times that they take on this machine."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Column, Table

from specdec_cli.decoding.costs import Costs
from specdec_cli.decoding.methods import DRAFTS_OF
from specdec_cli.decoding.options import DecodingOptions
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.engines.engine import SentenceDecoder
from specdec_cli.errors import UsageError, counted
from specdec_cli.model.bundle import Bundle
from specdec_cli.model.drafter import AnyDrafter
from specdec_cli.opening.conversions import load_checkpoint
from specdec_cli.opening.engines import open_beside, open_engine
from specdec_cli.opening.machine import Device, MachineOptions, move_to, resolve_machine
from specdec_cli.opening.models import ModelChoice, find_bundle
from specdec_cli.text.corpus.parallel import check_text
from specdec_cli.training.blocks import simulate
from specdec_cli.training.data import SentencePair
from specdec_cli.work.held_out import held_out_sets

COLUMNS = ("block size", "tokens per round", "break even", "margin", "ms a round", "ms a line", "speedup")
MARGIN = 1.15
"""A block size is printed in bold if its tokens per round are at least this many times those at which drafting breaks even."""


class Timing(NamedTuple):
    """What decoding costs in milliseconds: the encoder for a sentence, a round of greedy decoding, and rounds with drafts by `costs`.

    `words` describe the machine and the engine.
    """

    encoding: float
    step: float
    costs: Costs
    words: str


def simulate_block_sizes(output: Path, dev: Sequence[Path], device: Device, threads: int | None, tell: Callable[[str], None]) -> None:
    """Print tokens per round and speed of every block size for the bundle in `output`, on the sources in the files `dev`."""
    check_text(dev, parallel=False)
    machine = resolve_machine(device, "float32", threads)
    bundle = load_checkpoint(find_bundle(str(output)))
    move_to(machine, bundle)
    held_out = held_out_sets(bundle, dev, tell)
    options = MachineOptions(batch_size=1, device=device, threads=threads)
    print_simulation(Console(), bundle, held_out, ModelChoice(str(output)), options)


def print_simulation(
    console: Console, bundle: Bundle, held_out: Mapping[str, Sequence[SentencePair]], model: ModelChoice, options: MachineOptions
) -> None:
    """Print tokens per round, break-even tokens per round and milliseconds per line for every block size and each dev set.

    `held_out` has pairs of a source and its greedy output, by name of the dev set. Tokens are counted with `bundle`, whose weights
    are in floating point; rounds are timed with the engine that decodes `model`, the same bundle, with `options`. Raises UsageError for a
    bundle without a drafter.
    """
    if bundle.drafter is None:
        raise UsageError("--simulate: this bundle has no drafter")
    drafter, sizes = bundle.drafter, range(1, bundle.drafter.config.max_block + 1)
    sources = [pair.source for pairs in held_out.values() for pair in pairs[:10]]
    timing = _measured(drafter, sources, model, options)
    for name, pairs in held_out.items():
        console.print(_simulated(name, drafter, pairs, sizes, timing))
    console.print(
        f"{timing.words}; encoding {timing.encoding:.2f} ms, a greedy round {timing.step:.2f} ms; bold: {MARGIN - 1:.0%} above break-even"
    )


def _measured(drafter: AnyDrafter, sources: Sequence[Sequence[int]], model: ModelChoice, options: MachineOptions) -> Timing:
    """Time the engine that decodes `model` with `options`: its rounds with drafts, and greedy decoding of `sources`."""
    request = DecodingOptions(decoding=DRAFTS_OF[drafter.config.kind], block_size=drafter.config.max_block, batch_size=1)
    opened = open_engine(model, options, request)
    costs = opened.engine.measured_costs()
    greedy, one_token = (
        open_beside(opened, model, options, DecodingOptions(decoding="greedy", max_length=length, batch_size=1)) for length in (None, 1)
    )
    first, whole = ([_timed(engine, source) for source in sources] for engine in (one_token, greedy))
    steps = sum(tokens - 1 for _, tokens in whole)
    step = (sum(time for time, _ in whole) - sum(time for time, _ in first)) / steps if steps else costs.without(1)
    encoding = max(median(time for time, _ in first) - step, 0.0)
    return Timing(encoding, step, costs, f"{opened.machine.in_words}; {opened.engine.description}")


def _simulated(name: str, drafter: AnyDrafter, pairs: Sequence[SentencePair], sizes: Sequence[int], timing: Timing) -> Table:
    """A table for one dev set, with a row for each block size in `sizes`."""
    tokens = sum(len(pair.target) for pair in pairs) / len(pairs)
    greedy = timing.encoding + tokens * timing.step
    title = f"{name}: {counted(len(pairs), 'line')} of {tokens:.1f} tokens, greedy {greedy:.2f} ms a line"
    table = Table(*(Column(column, justify="right") for column in COLUMNS), title=title, title_justify="left", box=SIMPLE_HEAD)
    for size in sizes:
        result = simulate(drafter, pairs, size)
        a_round = timing.costs.with_draft(1, size, size)
        line, break_even = timing.encoding + tokens / result.tokens_per_round * a_round, a_round / timing.step
        margin = result.tokens_per_round / break_even
        cells = (result.tokens_per_round, break_even, margin, a_round, line, greedy / line)
        table.add_row(str(size), *(f"{cell:.2f}" for cell in cells), style="bold" if margin >= MARGIN else None)
    return table


def _timed(engine: SentenceDecoder, source: Sequence[int]) -> tuple[float, int]:
    """Decode a sentence twice. Returns the shorter time in milliseconds, and the number of output tokens."""
    times, tokens = [], 0
    for _ in range(2):
        started = time.perf_counter()
        (found,) = engine.decode([Sentence(0, source)])
        times.append(1000 * (time.perf_counter() - started))
        tokens = len(found.ids)
    return min(times), tokens
