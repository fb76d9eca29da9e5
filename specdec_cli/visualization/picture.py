"""The data of a picture of decoding: rows are iterations, rounds or steps; columns are the tokens of the output."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from specdec_cli.decoding.names import SEARCHES

Mark = Literal["right", "wrong", "accepted", "rejected", "verified", "known"]
MEANINGS: dict[Mark, str] = {
    "right": "equal to greedy decoding",
    "wrong": "different from greedy decoding",
    "accepted": "drafted and accepted",
    "rejected": "drafted and rejected",
    "verified": "the verifier's own token",
    "known": "from an earlier row",
}
FORMAT = 1


@dataclass(frozen=True)
class Cell:
    """A token at a position of the output, and its probability under the verifier (None: not computed).

    `instead_of` is the rejected draft token that the verifier's own token replaced.
    """

    piece: str
    mark: Mark
    probability: float | None = None
    instead_of: str | None = None


@dataclass(frozen=True)
class Picture:
    """Decoding of one sentence.

    `rows` have a cell, or None, for each of the `target` pieces. `settled` has, for each token, the row (from 1) from which on
    it is right; `edges` (i, j): token j depends on token i (see `jacobi_graph`). Both are empty for rounds and steps.
    """

    decoding: str
    source: tuple[str, ...]
    target: tuple[str, ...]
    rows: tuple[tuple[Cell | None, ...], ...]
    settled: tuple[int, ...] = ()
    edges: tuple[tuple[int, int], ...] = ()

    @property
    def row_name(self) -> str:
        """The name of a row: "step", "iteration" or "round"."""
        if self.decoding in SEARCHES:
            return "step"
        return "iteration" if self.settled or self.decoding == "mask-predict" else "round"

    @property
    def title(self) -> str:
        """A one-line summary: decoding, tokens, rows."""
        rows = len(self.rows)
        return f"{self.decoding}: {len(self.target)} tokens in {rows} {self.row_name}{'s' if rows > 1 else ''}"

    @property
    def marks(self) -> list[Mark]:
        """The marks that occur, in the order of MEANINGS."""
        found = {cell.mark for row in self.rows for cell in row if cell}
        return [mark for mark in MEANINGS if mark in found]

    def to_dict(self) -> dict[str, Any]:
        """All fields, for JSON."""
        return {"format": FORMAT, "tokens_per_row": round(len(self.target) / len(self.rows), 3)} | asdict(self)
