"""Pictures of decodings with drafts: drafted, accepted and replaced tokens of each round."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

from specdec_cli.decoding.rounds import RoundTrace
from specdec_cli.decoding.sentence import Hypothesis
from specdec_cli.text.tokenize.tokenizer import Tokenizer
from specdec_cli.visualization.picture import Cell, Picture


@dataclass(frozen=True)
class _RecordedRound:
    start: int
    draft: list[int]
    passed: int
    accepted: int


class Recorder:
    """A callback of the decoding loop that records the rounds of one sentence."""

    def __init__(self) -> None:
        self._rounds: list[_RecordedRound] = []

    def __call__(self, seen: RoundTrace) -> None:
        """Record the round `seen`, of a batch of one sentence."""
        draft = seen.draft.ids[0, : int(seen.draft.counts[0])].tolist()
        accepted, bifurcation = int(seen.accepted.counts[0]), int(seen.accepted.bifurcation[0])
        self._rounds.append(_RecordedRound(int(seen.state.lengths[0]) - 1, draft, min(bifurcation, accepted), accepted))

    def picture(self, decoding: str, tokenizer: Tokenizer, source: Sequence[int], found: Hypothesis) -> Picture:
        """The picture of the recorded rounds; `decoding` is the name of the decoding, `source` its input ids, `found` its result.

        Tokens of the output have probabilities if `found` has log probabilities.
        """
        target = tokenizer.pieces(found.ids)
        likely: list[float | None] = [round(exp(value), 4) for value in found.log_probabilities]
        verified = [Cell(piece, "verified", value) for piece, value in zip(target, likely or [None] * len(target), strict=True)]
        rows = tuple(_row(seen, verified, tokenizer.pieces(seen.draft)) for seen in self._rounds)
        return Picture(decoding, tuple(tokenizer.source_pieces(source)), tuple(target), rows)


def _row(seen: _RecordedRound, verified: Sequence[Cell], draft: Sequence[str]) -> tuple[Cell | None, ...]:
    row: list[Cell | None] = [Cell(cell.piece, "known") for cell in verified[: seen.start]]
    for slot, cell in enumerate(verified[seen.start :]):
        drafted = draft[slot] if slot < len(draft) else None
        if slot < seen.passed:
            row.append(Cell(cell.piece, "accepted", cell.probability))
        elif slot < seen.accepted:
            row.append(Cell(cell.piece, "verified", cell.probability, drafted))
        else:
            row.append(Cell(drafted, "rejected") if drafted is not None else None)
    return tuple(row)
