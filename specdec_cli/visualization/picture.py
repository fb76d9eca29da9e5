"""The data of a picture of decoding: rows are iterations, rounds or steps; columns are the tokens of the output."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from specdec_cli.decoding.methods import SEARCHES
from specdec_cli.errors import counted

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
    """A token in a row of a picture: its text, its mark, and its probability (None: not computed).

    MEANINGS says what the marks mean. `instead_of` is the rejected draft token that this token of the verifier replaced; None if there
    was none.
    """

    piece: str
    mark: Mark
    probability: float | None = None
    instead_of: str | None = None


@dataclass(frozen=True)
class Picture:
    """The decoding of one sentence as a grid: rows are iterations, rounds or steps; columns are the tokens of the output.

    Each row has a cell, or None, for each of the `target` pieces. For Jacobi decoding, `settled` has for each token the row (from
    1) from which on it is right, and `edges` has pairs (i, j) of tokens (from 0): of the tokens before j that became right earlier
    than j, i became right last. Both are empty for other decodings.
    """

    decoding: str
    source: tuple[str, ...]
    target: tuple[str, ...]
    rows: tuple[tuple[Cell | None, ...], ...]
    settled: tuple[int, ...] = ()
    edges: tuple[tuple[int, int], ...] = ()

    @property
    def row_name(self) -> str:
        """What a row is: "step" for searches, "iteration" for Jacobi decoding and Mask-Predict, else "round"."""
        if self.decoding in SEARCHES:
            return "step"
        return "iteration" if self.settled or self.decoding == "mask-predict" else "round"

    @property
    def title(self) -> str:
        """A one-line summary, such as "specdec: 12 tokens in 3 rounds"."""
        rows = len(self.rows)
        return f"{self.decoding}: {counted(len(self.target), 'token')} in {counted(rows, self.row_name)}"

    @property
    def marks(self) -> list[Mark]:
        """The marks of cells ("accepted", "rejected", ...) that occur in the picture, in the order of MEANINGS."""
        found = {cell.mark for row in self.rows for cell in row if cell}
        return [mark for mark in MEANINGS if mark in found]

    def to_dict(self) -> dict[str, Any]:
        """All fields by name, cells as dictionaries, and the mean number of tokens per row, for JSON."""
        return {"format": FORMAT, "tokens_per_row": round(len(self.target) / len(self.rows), 3)} | asdict(self)
