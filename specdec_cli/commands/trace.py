"""The output of the option --trace: draft, prediction and bifurcation of each round."""

from collections import defaultdict

from rich.console import Console
from rich.text import Text

from specdec_cli.decoding.rounds import RoundTrace
from specdec_cli.model.bundle import Bundle
from specdec_cli.text.tokenize.tokenizer import Tokenizer


class Tracer:
    """A callback of the decoding loop that prints each round to `console`, as in Table 11 of Ge et al. 2022.

    Line D has the draft, line V the verifier's predictions for the same positions, both after the accepted prefix. Accepted
    tokens are green, the bifurcation is red, and rejected tokens are struck through. At the end of a sentence, the tokens of each
    round are printed as in Table 2 of the paper: accepted ones in brackets (blue), the verifier's in parentheses (red).
    """

    def __init__(self, console: Console, tokenizer: Tokenizer, eos: int) -> None:
        self._console, self._tokenizer, self._eos = console, tokenizer, eos
        self._blocks: dict[int, list[tuple[list[int], int]]] = defaultdict(list)

    def __call__(self, seen: RoundTrace) -> None:
        """Print the round `seen` of every unfinished row of the batch, before its tokens are appended."""
        state = seen.state
        for row in (~state.finished).nonzero()[:, 0].tolist():
            length, count = int(state.lengths[row]), int(seen.accepted.counts[row])
            passed = min(int(seen.accepted.bifurcation[row]), count)
            prefix = self._tokenizer.pieces(state.tokens[row, 1:length].tolist())
            drafted = seen.draft.ids[row, : int(seen.draft.counts[row])].tolist()
            verified = seen.accepted.predictions[row, : len(drafted) + 1].tolist()
            number = int(state.numbers[row])
            label = f"{number + 1}.{int(state.rounds[row]) + 1}"
            if drafted:
                self._show(f"{label:>6} D ", prefix, self._tokenizer.pieces(drafted), passed)
            if verified:  # empty for the drafter alone
                self._show(f"{label:>6} V ", prefix, self._tokenizer.pieces(verified), passed, ours=True)
            added = seen.accepted.ids[row, :count].tolist()
            self._blocks[number].append((added, passed))
            if added[-1:] == [self._eos] or length + count >= int(state.limits[row]):
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


def trace_on_stderr(bundle: Bundle) -> Tracer:
    """The Tracer that prints the rounds of `bundle` on stderr."""
    return Tracer(Console(stderr=True), bundle.tokenizer, bundle.verifier.config.eos)
