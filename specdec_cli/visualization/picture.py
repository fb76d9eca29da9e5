"""What a picture of decoding shows: rows are iterations, rounds or steps, columns are the tokens of the output."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from specdec_cli.decoding.names import SEARCHES

Mark = Literal["right", "wrong", "accepted", "rejected", "verified", "known"]
MEANINGS: dict[Mark, str] = {
    "right": "as greedy decoding has it",
    "wrong": "another token than greedy decoding has",
    "accepted": "drafted, and accepted",
    "rejected": "drafted, and rejected",
    "verified": "the verifier's own token",
    "known": "from an earlier row",
}
FORMAT = 1


@dataclass(frozen=True)
class Cell:
    """A token at a place of the output; its probability under the verifier, None where it was not asked.

    `instead_of` is what the draft had where the verifier took its own.
    """

    piece: str
    mark: Mark
    probability: float | None = None
    instead_of: str | None = None


@dataclass(frozen=True)
class Picture:
    """Decoding of one sentence.

    `rows` have a cell, or None, for each of the `target` pieces. `settled` says in which row, from 1, a token became
    right and stayed so; `edges` (i, j) that token j waited for token i. Both are empty for pictures of rounds and of steps.
    """

    decoding: str
    source: tuple[str, ...]
    target: tuple[str, ...]
    rows: tuple[tuple[Cell | None, ...], ...]
    settled: tuple[int, ...] = ()
    edges: tuple[tuple[int, int], ...] = ()

    @property
    def row_name(self) -> str:
        """What a row is."""
        if self.decoding in SEARCHES:
            return "step"
        return "iteration" if self.settled or self.decoding == "mask-predict" else "round"

    @property
    def title(self) -> str:
        """The decoding, tokens and rows in words."""
        rows = len(self.rows)
        return f"{self.decoding}: {len(self.target)} tokens in {rows} {self.row_name}{'s' if rows > 1 else ''}"

    @property
    def marks(self) -> list[Mark]:
        """The marks that stand in it, in the order of their meanings."""
        found = {cell.mark for row in self.rows for cell in row if cell}
        return [mark for mark in MEANINGS if mark in found]

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {"format": FORMAT, "tokens_per_row": round(len(self.target) / len(self.rows), 3)} | asdict(self)
