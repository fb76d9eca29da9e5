"""The decoding dependency graph of Jacobi decoding (Santilli et al. 2023, Section 3.5)."""

from collections.abc import Sequence

import torch

from specdec_cli.decoding.state import Draft
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.text.tokenize.tokenizer import Tokenizer
from specdec_cli.visualization.picture import Cell, Picture


@torch.inference_mode()
def jacobi_graph(verifier: Verifier, tokenizer: Tokenizer, source: Sequence[int], output: Sequence[int]) -> Picture:
    """Run parallel Jacobi decoding of `source` (ids) from padding (Santilli et al. 2023, Algorithm 1), and return its picture.

    `output` (ids, its EOS included) is the greedy output of `source`, the fixed point of the iteration. A row is an iteration; a cell is
    right if it equals the token of `output`, even if an earlier token is wrong. On a GPU, where logits depend on tensor shapes, the
    last row may have wrong cells.
    """
    target = torch.tensor(output, device=verifier.device)[None]
    state = verifier.begin([0], [source])
    guesses = torch.full_like(target, verifier.config.padding)
    counts = torch.full_like(state.lengths, len(output) - 1)
    rows: list[tuple[Cell | None, ...]] = []
    # As many iterations as tokens suffice (Proposition 1), unless rounding changes the order of two almost equal logits.
    while len(rows) < len(output) and not (rows and torch.equal(guesses, target)):
        logits = verifier.score(state, Draft(guesses[:, :-1], counts)).logits.float()
        guesses = logits.argmax(-1)
        probabilities = logits.softmax(-1).gather(2, guesses[..., None])[0, :, 0].tolist()
        pieces = tokenizer.pieces(guesses[0].tolist())
        right = (guesses == target)[0].tolist()
        rows.append(tuple(Cell(p, "right" if r else "wrong", round(q, 4)) for p, r, q in zip(pieces, right, probabilities, strict=True)))
    settled = _settled(rows, len(output))
    return Picture("jacobi", tuple(tokenizer.source_pieces(source)), tuple(tokenizer.pieces(output)), tuple(rows), settled, _edges(settled))


def _settled(rows: Sequence[Sequence[Cell | None]], tokens: int) -> tuple[int, ...]:
    """For each token, the row (from 1) from which on it is right."""
    last_wrong = [0] * tokens
    for number, row in enumerate(rows, start=1):
        for column, cell in enumerate(row):
            if cell is not None and cell.mark == "wrong":
                last_wrong[column] = number
    return tuple(number + 1 for number in last_wrong)


def _edges(settled: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """The edges (i, j): i is one of the tokens before j that became right latest before j did; other edges are implied."""
    edges = []
    for token, when in enumerate(settled):
        latest = max((earlier for earlier in settled[:token] if earlier < when), default=None)
        edges += [(column, token) for column in range(token) if settled[column] == latest]
    return tuple(edges)
