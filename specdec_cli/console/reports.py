"""What commands print on stderr: messages and warnings; for --stats, counts of lines, tokens and rounds, of drafts from earlier
translations and of the glossary's terms; for --trace, the draft, prediction and bifurcation of each round. And the fields of --json.
"""

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import typer

from specdec_cli.decoding.methods import DRAFT_MODEL, parts
from specdec_cli.errors import counted
from specdec_cli.failures import without_controls
from specdec_cli.model.bundle_info import Described
from specdec_cli.opening.conversions import Tell, silent
from specdec_cli.opening.machine import Machine
from specdec_cli.opening.models import shipped_directions
from specdec_cli.processors import peak_resident_mb
from specdec_cli.text.checks import GLOSSARY
from specdec_cli.text.io.lines import STDIO, Line
from specdec_cli.text.locale.languages import foreign_language
from specdec_cli.text.tokenize.tokenizer import Tokenizer

if TYPE_CHECKING:
    from rich.console import Console

    from specdec_cli.decoding.options import Decoding
    from specdec_cli.decoding.rounds import RoundTrace
    from specdec_cli.engines.engine import SentenceDecoder
    from specdec_cli.model.storage import Written
    from specdec_cli.native.model import DecodedRound
    from specdec_cli.pipeline.corrector import Correction
    from specdec_cli.pipeline.drafts import DraftUse
    from specdec_cli.pipeline.translator import Translation
    from specdec_cli.text.glossary import Term


def say(message: str) -> None:
    """Print `message` on stderr, after the name of the program."""
    typer.echo(f"specdec: {message}", err=True)


def shows_colours(stream: TextIO) -> bool:
    """Whether text on `stream` has colours: on a terminal that shows them, unless NO_COLOR is set or TERM is dumb, as for Rich's output."""
    from rich.console import Console

    console = Console(file=stream)
    return console.is_terminal and console.color_system is not None and not console.no_color


def tell_of_keyboard(files: Sequence[Path], *, quiet: bool) -> None:
    """Say on stderr that a command waits for input, if stdin is one of `files` (empty: stdin) and a terminal, unless `quiet`."""
    if not quiet and (not files or STDIO in files) and sys.stdin.isatty():
        say("reading from the keyboard; Ctrl-D on an empty line ends the text")


class Teller:
    """Prints messages on stderr, and shows how many bytes of a file are written, if stderr is a terminal."""

    def __call__(self, message: str) -> None:
        """Print a message."""
        say(message)

    @contextmanager
    def writing(self) -> Iterator["Written"]:
        """A context that shows a progress bar on stderr. It gives the function that updates the bar."""
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

        columns = (BarColumn(), DownloadColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
            task = bar.add_task("", total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)


def teller(quiet: bool) -> Tell:
    """Return a function that prints a message on stderr; with `quiet`, one that prints nothing."""
    return silent if quiet else Teller()


def print_table(rows: Iterable[tuple[str, str]], title: str = "") -> None:
    """Print names and their values as a table on stderr, with `title` as the header of the names."""
    from rich.console import Console
    from rich.table import Column, Table

    table = Table(Column(title), Column(justify="right"), show_header=bool(title))
    for row in rows:
        table.add_row(*row)
    Console(stderr=True).print(table)


@contextmanager
def progress_bar(
    quiet: bool, *columns: Any, total: int | None = None, measuring: bool = False, **fields: Any
) -> Iterator[Callable[..., None]]:
    """Context manager that shows a progress bar of Rich's `columns` on stderr, if it and stdout are terminals, and not with `quiet`.

    It gives the function that updates the bar, with the arguments of `Progress.update`; `fields` are the first values that columns show.
    With `measuring`, the bar is drawn by updates alone, which takes no processor time in between, and it disappears at the end.
    """
    from rich.console import Console
    from rich.progress import Progress

    shown = not quiet and sys.stdout.isatty() and sys.stderr.isatty()
    with Progress(*columns, console=Console(stderr=True), auto_refresh=not measuring, transient=measuring, disable=not shown) as bar:
        task = bar.add_task("", total=total, **fields)
        bar.refresh()
        yield partial(bar.update, task, refresh=measuring)


class Warner:
    """Prints warnings about the lines of `window`, those that are decoded together, on stderr, each once a line; with `quiet`, none."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._location, self._told = "", set[str]()
        self.window: Sequence[Line] = ()

    def warn(self, index: int, message: str) -> None:
        """Print a warning about line `index` (from 0) of the window."""
        self.warn_of(self.window[index], message)

    def warn_of(self, line: Line, message: str) -> None:
        """Print a warning about `line`, unless it was printed for this line, or another part of it, before."""
        if line.location != self._location:
            self._location, self._told = line.location, set()
        if not self._quiet and message not in self._told:
            self._told.add(message)
            print(f"specdec: warning: {without_controls(line.location)}: {message}", file=sys.stderr)


SAMPLE = 200
"""The language of a file is checked once this many characters were read."""


class LanguageCheck:
    """Calls `warn` with the last of the lines from which the beginning of a file is seen to be in another language than `source`.

    A file of fewer characters than SAMPLE is not checked.
    """

    def __init__(self, source: str, warn: Callable[[Line, str], None]) -> None:
        self._source, self._warn = source, warn
        self._file: Path | None = None
        self._begun = ""
        self._done = not source

    def read(self, line: Line) -> None:
        """Look at the next line of the input."""
        if line.file != self._file:
            self._file, self._begun, self._done = line.file, "", not self._source
        if self._done or line.is_code:
            return
        self._begun += f"{line.text}\n"
        if len(self._begun) < SAMPLE:
            return
        self._done = True
        found = foreign_language(self._begun, self._source)
        if not found:
            return
        fits = next((f"; --source-language {found} chooses {name}" for name, pair in shipped_directions().items() if pair[0] == found), "")
        self._warn(line, f"the text looks like {found}, and the model translates from {self._source}{fits}")


def duration(seconds: float) -> str:
    """A duration as hours, minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}"


def record(line: Line, decoded: "Translation | Correction", decoding: str) -> dict[str, Any]:
    """The JSON object that --json writes for a line; `decoding` is the name of the decoding if `decoded` has none."""
    return {
        "file": None if line.file is None else str(line.file),
        "line": line.number,
        "source": line.text,
        "text": decoded.text,
        "tokens": decoded.tokens,
        "rounds": decoded.rounds,
        "tokens_per_round": round(decoded.tokens / decoded.rounds, 3) if decoded.rounds else None,
        "score": None if decoded.score is None else round(decoded.score, 4),
        "decoding": decoded.decoding or decoding,
        "warnings": list(decoded.warnings),
        **({"draft": "model"} if DRAFT_MODEL in parts(decoded.decoding) else {}),
    }


Outcome = Sequence[tuple["Term", bool]]
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


_TO_TRY = "if that is wrong, add the term with the words beside it, and their translation, to the glossary"


def term_warnings(translation: "Translation") -> list[str]:
    """Messages about terms that a translation lacks, or that may not fit there: what came out, and what to try."""
    messages = []
    for is_found, verb in ((False, "not"), (True, "may not fit")):
        terms = dict.fromkeys(f"{term.target!r} for {term.source!r}" for term, found in translation.terms if found == is_found)
        if terms and (not is_found or GLOSSARY in translation.warnings):
            messages.append(f"{', '.join(terms)}: {verb} in {translation.text!r}; {_TO_TRY}")
    return messages


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

    def add(self, use: "DraftUse | None") -> None:
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
            return f"for 0 of {counted(sentences, 'sentence')}"
        found = (
            f"{self.origin}, for {self.sentences:,} of {counted(sentences, 'sentence')}, {self.similarity / self.sentences:.1f} % similar"
        )
        copied = f", {self.copied:,} copied" if self.copied else ""
        return f"{found}{copied}, {self.accepted:,} of {counted(self.tokens, 'token')} accepted"


def draft_fields(use: "DraftUse | None") -> dict[str, Any]:
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


def print_statistics(totals: Totals, engine: "SentenceDecoder", machine: Machine, loading: float, seconds: float) -> None:
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
        ("machine", f"{machine.in_words}, {engine.description}"),
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


def decoding_in_words(decoding: "Decoding", drafted: tuple[int, float] | None, rounds: int) -> str:
    """One line with the decoding of a run and its block size; with an adaptive block size, also the number of rounds with a draft.

    `drafted` is the number of rounds with a draft and their mean block size, of `rounds` rounds; None if every round drafts.
    """
    if drafted is None:
        return f"{_named(decoding)}, block size {decoding.block_size}" if decoding.block_size else _named(decoding)
    drafting, size = drafted
    if drafting == 0:
        return f"greedy ({_named(decoding)} would be slower here)"
    return f"{_named(decoding)}, drafts in {drafting:,} of {counted(rounds, 'round')}, block size {size:.1f} on average"


def _named(decoding: "Decoding") -> str:
    """The method of a decoding, and the model that drafts, if there is one."""
    return f"{decoding.method} {decoding.draft_model}" if DRAFT_MODEL in parts(decoding.method) else decoding.method


class Tracer:
    """Prints each round of a decoding to `console`, as in Table 11 of Ge et al. 2022: a callback of the loop, and of the native engine.

    Line D has the draft, line V the verifier's predictions for the same positions, both after the accepted prefix. Accepted
    tokens are green, the bifurcation is red, and rejected tokens are struck through. At the end of a sentence, the tokens of each
    round are printed as in Table 2 of the paper: accepted ones in brackets (blue), the verifier's in parentheses (red).
    """

    def __init__(self, console: "Console", tokenizer: Tokenizer, eos: int) -> None:
        self._console, self._tokenizer, self._eos = console, tokenizer, eos
        self._blocks: dict[int, list[tuple[list[int], int]]] = defaultdict(list)

    def show(self, seen: "DecodedRound") -> None:
        """Print one round of a sentence, as the native engine reports it."""
        agreed = (drafted == predicted for drafted, predicted in zip(seen.drafted, seen.predicted, strict=False))
        passed = min(sum(takewhile(bool, agreed)), len(seen.taken))
        prefix = [token for ids, _ in self._blocks[seen.number] for token in ids]
        self._show_round(seen.number, prefix, seen.drafted, seen.predicted, seen.taken, passed, ended=seen.ended)

    def __call__(self, seen: "RoundTrace") -> None:
        """Print the round `seen` of every unfinished row of the batch, before its tokens are appended."""
        state = seen.state
        for row in (~state.finished).nonzero()[:, 0].tolist():
            length, count = int(state.lengths[row]), int(seen.accepted.counts[row])
            passed = min(int(seen.accepted.bifurcation[row]), count)
            drafted = seen.draft.ids[row, : int(seen.draft.counts[row])].tolist()
            verified = seen.accepted.predictions[row, : len(drafted) + 1].tolist()
            added = seen.accepted.ids[row, :count].tolist()
            ended = added[-1:] == [self._eos] or length + count >= int(state.limits[row])
            prefix = state.tokens[row, 1:length].tolist()
            self._show_round(int(state.numbers[row]), prefix, drafted, verified, added, passed, ended=ended)

    def _show_round(
        self,
        number: int,
        prefix: Sequence[int],
        drafted: Sequence[int],
        verified: Sequence[int],
        added: list[int],
        passed: int,
        *,
        ended: bool,
    ) -> None:
        """Print a round after the `prefix` of a sentence; `verified` is empty for the drafter alone."""
        blocks = self._blocks[number]
        label, before = f"{number + 1}.{len(blocks) + 1}", self._tokenizer.pieces(prefix)
        if drafted:
            self._show(f"{label:>6} D ", before, self._tokenizer.pieces(drafted), passed)
        if verified:
            self._show(f"{label:>6} V ", before, self._tokenizer.pieces(verified), passed, ours=True)
        blocks.append((added, passed))
        if ended:
            self._show_blocks(number)

    def _show(self, label: str, prefix: list[str], pieces: list[str], passed: int, *, ours: bool = False) -> None:
        from rich.text import Text

        line = Text(label, style="dim")
        line.append(" ".join(prefix) + " " if prefix else "", style="dim")
        for index, piece in enumerate(pieces):
            style = "green" if index < passed else "bold red" if index == passed else "dim strike"
            if ours and index == passed:
                style = "bold green" if index + 1 == len(pieces) else "bold yellow"
            mark = f"[{piece}]" if index == passed and not self._console.is_terminal else piece
            line.append(mark, style=style)
            line.append(" ")
        self._console.print(line, soft_wrap=True, highlight=False)

    def _show_blocks(self, number: int) -> None:
        from rich.text import Text

        line = Text(f"{number + 1:>4}   = ", style="dim")
        for ids, drafted in self._blocks.pop(number):
            pieces = self._tokenizer.pieces(ids)
            if drafted:
                line.append(f"[{' '.join(pieces[:drafted])}] ", style="blue")
            if pieces[drafted:]:
                line.append(f"({' '.join(pieces[drafted:])}) ", style="red")
        self._console.print(line, soft_wrap=True, highlight=False)


def trace_on_stderr(bundle: Described) -> Tracer:
    """The Tracer that prints the rounds of `bundle` on stderr."""
    from rich.console import Console

    return Tracer(Console(stderr=True), bundle.tokenizer, bundle.shape.eos)
