"""The output of the option --trace: draft, prediction and bifurcation of each round."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from specdec_cli.model.bundle_info import Described
from specdec_cli.text.tokenize.tokenizer import Tokenizer

if TYPE_CHECKING:
    from specdec_cli.decoding.rounds import RoundTrace
    from specdec_cli.native.model import DecodedRound


class Tracer:
    """Prints each round of a decoding to `console`, as in Table 11 of Ge et al. 2022: a callback of the loop, and of the native engine.

    Line D has the draft, line V the verifier's predictions for the same positions, both after the accepted prefix. Accepted
    tokens are green, the bifurcation is red, and rejected tokens are struck through. At the end of a sentence, the tokens of each
    round are printed as in Table 2 of the paper: accepted ones in brackets (blue), the verifier's in parentheses (red).
    """

    def __init__(self, console: Console, tokenizer: Tokenizer, eos: int) -> None:
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
        line = Text(label, style="dim")
        line.append(" ".join(prefix) + " " if prefix else "", style="dim")
        for place, piece in enumerate(pieces):
            style = "green" if place < passed else "bold red" if place == passed else "dim strike"
            if ours and place == passed:
                style = "bold green" if place + 1 == len(pieces) else "bold yellow"
            mark = f"[{piece}]" if place == passed and not self._console.is_terminal else piece
            line.append(mark, style=style)
            line.append(" ")
        self._console.print(line, soft_wrap=True, highlight=False)

    def _show_blocks(self, number: int) -> None:
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
    return Tracer(Console(stderr=True), bundle.tokenizer, bundle.shape.eos)
