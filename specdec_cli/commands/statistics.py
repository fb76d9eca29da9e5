"""The table that the option --stats prints after decoding."""

from dataclasses import dataclass

from specdec_cli.benchmark.memory import peak_resident_mb
from specdec_cli.commands.earlier_translations import DraftTotals
from specdec_cli.commands.glossary_terms import TermTotals
from specdec_cli.decoding.options import Decoding
from specdec_cli.engines.engine import SentenceDecoder
from specdec_cli.opening.machine import Machine


@dataclass
class Totals:
    """Counts over all lines decoded so far; `tokens` are emitted tokens, EOS included. `drafts` are those from earlier
    translations, `terms` those of a glossary; None without any.

    `spans` are the protected spans of the input, if they are counted, and `kept` those that the output has as often.
    """

    lines: int = 0
    sentences: int = 0
    tokens: int = 0
    rounds: int = 0
    drafts: DraftTotals | None = None
    terms: TermTotals | None = None
    spans: int = 0
    kept: int = 0


def print_statistics(totals: Totals, engine: SentenceDecoder, machine: Machine, loading: float, seconds: float) -> None:
    """Print counts, settings, time and memory of a run as a table to stderr.

    `loading` and `seconds` are the wall times, in seconds, of loading the model and of decoding.
    """
    from rich.console import Console
    from rich.table import Table

    copied = 0 if totals.drafts is None else totals.drafts.copied
    translated = totals.sentences + copied
    sentences, tokens, rounds = max(translated, 1), totals.tokens, max(totals.rounds, 1)
    rows = [
        ("decoding", f"{decoding_in_words(engine.decoding, engine.drafted, totals.rounds)}, batch size {engine.decoding.batch_size}"),
        ("machine", f"{machine.device}, {machine.precision}, {machine.threads} threads, {engine.description}"),
        *([("CUDA graphs", engine.captured)] if engine.captured else []),
        ("lines, sentences", f"{totals.lines:,}, {translated:,}"),
        ("protected spans", "none" if not totals.spans else f"{totals.spans:,}, of which the output has {totals.kept:,} exactly as often"),
        ("tokens, rounds", f"{tokens:,}, {totals.rounds:,}"),
        ("tokens per round", f"{tokens / rounds:.2f}"),
        ("iterations", f"{totals.rounds / sentences:.2f} a sentence"),
        *([] if totals.drafts is None else [("drafts", totals.drafts.in_words(translated))]),
        *([] if totals.terms is None else [("terms", totals.terms.in_words())]),
        ("time", f"{seconds:.2f} s, after {loading:.2f} s of loading"),
        ("speed", f"{1000 * seconds / sentences:.1f} ms a sentence, {tokens / max(seconds, 1e-9):,.0f} tokens/s"),
        ("peak memory", "unknown" if (peak := peak_resident_mb()) is None else f"{peak:,.0f} MB"),
    ]
    table = Table(show_header=False, box=None)
    for row in rows:
        table.add_row(*row)
    Console(stderr=True).print(table)


def decoding_in_words(decoding: Decoding, drafted: tuple[int, float] | None, rounds: int) -> str:
    """One line with the decoding of a run and its block size; with an adaptive block size, also the number of rounds with a draft.

    `drafted` is the number of rounds with a draft and their mean block size, of `rounds` rounds; None if every round drafts.
    """
    if drafted is None:
        return f"{decoding.method}, block size {decoding.block_size}" if decoding.block_size else decoding.method
    drafting, size = drafted
    if drafting == 0:
        return f"greedy ({decoding.method} would be slower here)"
    return f"{decoding.method}, drafts in {drafting:,} of {rounds:,} rounds, block size {size:.1f} on average"
