"""Output of `train-drafter --simulate`: tokens per round and speed of each block size."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from specdec_cli.benchmark.costs import measure_round_costs
from specdec_cli.errors import UsageError
from specdec_cli.model.bundle import Bundle
from specdec_cli.opening.machine import Machine
from specdec_cli.training.batches import SentencePair
from specdec_cli.training.simulation import simulate

COLUMNS = ("block size", "tokens per round", "break even", "margin", "ms a round", "ms a line", "speedup")
MARGIN = 1.15
"""A block size is printed in bold if its tokens per round are at least this many times those at which drafting breaks even."""


def print_simulation(
    console: Console, bundle: Bundle, timed: Bundle, held_out: Mapping[str, Sequence[SentencePair]], machine: Machine
) -> None:
    """Print tokens per round, break-even tokens per round and milliseconds per line for every block size and each dev set.

    `held_out` has pairs of a source and its greedy output, by name of the dev set. Tokens are counted with `bundle`, whose weights
    are in floating point; rounds are timed with `timed`, the same bundle in the precision of `machine`. Raises UsageError for a
    bundle without a drafter.
    """
    if bundle.drafter is None:
        raise UsageError("--simulate: this bundle has no drafter")
    sizes = range(1, bundle.drafter.config.max_block + 1)
    sources = [pair.source for pairs in held_out.values() for pair in pairs[:10]]
    costs = measure_round_costs(timed, sources, sizes)
    for name, pairs in held_out.items():
        tokens = sum(len(pair.target) for pair in pairs) / len(pairs)
        greedy = costs.encode + tokens * costs.greedy
        title = f"{name}: {len(pairs)} lines of {tokens:.1f} tokens, greedy {greedy:.2f} ms a line"
        table = Table(title=title, title_justify="left", box=SIMPLE_HEAD)
        for column in COLUMNS:
            table.add_column(column, justify="right")
        for size in sizes:
            result = simulate(bundle.drafter, pairs, size)
            line = costs.encode + tokens / result.tokens_per_round * costs.rounds[size]
            margin = result.tokens_per_round / costs.break_even(size)
            cells = (result.tokens_per_round, costs.break_even(size), margin, costs.rounds[size], line, greedy / line)
            table.add_row(str(size), *(f"{cell:.2f}" for cell in cells), style="bold" if margin >= MARGIN else None)
        console.print(table)
    settings = ", ".join(f"{key} {value}" for key, value in asdict(machine).items())
    console.print(
        f"{settings}; encoding {costs.encode:.2f} ms, a greedy round {costs.greedy:.2f} ms; bold: {MARGIN - 1:.0%} above break-even"
    )
