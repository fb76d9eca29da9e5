"""The statistics of --stats: counts of lines, tokens and rounds, of drafts from earlier translations, and of the glossary's terms."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specdec_cli.commands.options import DraftOptions
from specdec_cli.decoding.options import Decoding
from specdec_cli.documents.formats import DOCUMENTS, TEXT, Format, format_of
from specdec_cli.engines.engine import SentenceDecoder
from specdec_cli.errors import InputError, UsageError
from specdec_cli.opening.machine import Machine
from specdec_cli.pipeline.draft_gate import DraftGate
from specdec_cli.pipeline.drafts import Drafts, DraftUse
from specdec_cli.processors import peak_resident_mb
from specdec_cli.text.corpus.parallel import Pair, read_aligned
from specdec_cli.text.glossary import Term
from specdec_cli.text.io.lines import read_lines
from specdec_cli.text.segment.paragraphs import join_wrapped

if TYPE_CHECKING:
    from specdec_cli.api import Translator
    from specdec_cli.memories.pairs import Entry


def duration(seconds: float) -> str:
    """A duration as hours, minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}"


Outcome = Sequence[tuple[Term, bool]]
"""Terms of a line, each with whether the translation has it."""


@dataclass
class TermTotals:
    """Counts over all lines: occurrences of terms in the input, and those whose target is in the output."""

    terms: int = 0
    found: int = 0

    def add(self, outcome: Outcome) -> None:
        """Count the terms of a line."""
        self.terms += len(outcome)
        self.found += sum(found for _, found in outcome)

    def in_words(self) -> str:
        """One line for --stats."""
        return f"{self.terms:,}, of which the output has {self.found:,}"


def term_fields(outcome: Outcome) -> dict[str, Any]:
    """The fields of --json about the terms of a line."""
    return {"terms": [{"source": term.source, "target": term.target, "found": found} for term, found in outcome]}


def term_warnings(outcome: Outcome) -> list[str]:
    """A message for each term that the translation lacks."""
    lacking = dict.fromkeys(term for term, found in outcome if not found)
    return [f"the translation lacks {term.target!r} for the term {term.source!r}" for term in lacking]


@dataclass
class DraftTotals:
    """Counts over all lines: sentences that had a draft, the sum of their similarities, sentences that were copied; tokens
    of the sentences that were decoded from drafts, and how many of these were accepted from them.
    """

    origin: str = ""
    sentences: int = 0
    similarity: float = 0.0
    copied: int = 0
    tokens: int = 0
    accepted: int = 0

    def add(self, use: DraftUse | None) -> None:
        """Count the drafts of a line."""
        if use is None:
            return
        self.origin = use.origin
        self.sentences += len(use.similarities)
        self.similarity += sum(use.similarities)
        self.copied += use.copied
        self.tokens += use.tokens
        self.accepted += use.accepted

    def in_words(self, sentences: int) -> str:
        """One line for --stats, of `sentences` that were translated."""
        if not self.sentences:
            return f"for 0 of {sentences:,} sentences"
        found = f"{self.origin}, for {self.sentences:,} of {sentences:,} sentences, {self.similarity / self.sentences:.1f} % similar"
        copied = f", {self.copied:,} copied" if self.copied else ""
        return f"{found}{copied}, {self.accepted:,} of {self.tokens:,} tokens accepted"


def open_drafts(options: DraftOptions, model: "Translator", whole: Sequence[str], format: Format | None) -> Drafts:
    """Open the memory or the earlier version that `options` name, for the batches of `model`.

    `whole` are the lines of the whole new text, for an earlier version; this has the `format` (None: by the ending of its source's name).
    Raises InputError for files that cannot be read or do not belong together, and UsageError for two formats, and if a library is not
    installed.
    """
    # Imported here because they import numpy, which other runs do not need.
    from specdec_cli.memories.memory import open_memory
    from specdec_cli.memories.pairs import sentence_pairs
    from specdec_cli.memories.previous import PreviousVersion

    gate, copies = DraftGate.for_batches(model.decoding.batch_size), options.exact_matches == "copy"
    if options.previous is not None:
        pairs = _previous_pairs(*options.previous, format or format_of(options.previous[0]), given=format is not None)
        old = list(sentence_pairs(pairs, split=model.splits, whole=not model.splits))
        return Drafts(PreviousVersion([(old, model.sentences(whole))], options.least_similarity), gate, copies)
    assert options.tm
    info = model.info
    return Drafts(open_memory(options.tm[0], info.source_language, info.target_language, options.least_similarity), gate, copies)


def _previous_pairs(source: Path, target: Path, format: Format, *, given: bool) -> "Iterable[Pair | Entry]":
    """The texts of the earlier version with their translations; `given` if both files have the `format` that the user gave."""
    other = format_of(target)
    if format == TEXT:
        return _paragraph_pairs(source, target)
    if format not in DOCUMENTS:
        return read_aligned(source, target)
    if not given and other in DOCUMENTS and other != format:
        raise UsageError(f"--previous: {source} is {format} and {target} is {other}; give two files of one format, or --format")
    from specdec_cli.memories.translated_pairs import translated_pairs

    return translated_pairs(source, target, format)


def _paragraph_pairs(source: Path, target: Path) -> "Iterable[Pair]":
    """Pair the first paragraph of `source` with the first one of `target`, and so on. Their line breaks may differ.

    Raises InputError if the two files have different numbers of paragraphs.
    """
    paragraphs = [[line.text for line in join_wrapped(read_lines([path])) if line.text.strip()] for path in (source, target)]
    if len(paragraphs[0]) != len(paragraphs[1]):
        raise InputError(f"{target}: the number of paragraphs is {len(paragraphs[1])}, but {len(paragraphs[0])} in {source}")
    return list(map(Pair, *paragraphs))


def draft_fields(use: DraftUse | None) -> dict[str, Any]:
    """The fields of --json about the drafts of a line; none if it had no draft."""
    if use is None:
        return {}
    return {"draft": use.origin, "similarity": round(use.similarity, 1), "accepted": use.accepted}


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
