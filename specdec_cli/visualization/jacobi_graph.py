"""The decoding dependency graph: which tokens had to be fixed before another one could be (Santilli et al. 2023, 3.5)."""

from collections.abc import Sequence

import torch

from specdec_cli.decoding.state import Draft
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.text.tokenizer import Tokenizer
from specdec_cli.visualization.picture import Cell, Picture


@torch.inference_mode()
def jacobi_graph(verifier: Verifier, tokenizer: Tokenizer, source: Sequence[int], output: Sequence[int]) -> Picture:
    """Parallel Jacobi decoding (Algorithm 1) of `source` from padding to its fixed point, greedy decoding's `output` (ids).

    A cell is right if it holds greedy's token, even while an earlier one is wrong. Where arithmetic depends on shapes, as
    on a GPU, even the last row may have wrong cells.
    """
    target = torch.tensor(output, device=verifier.device)[None]
    state = verifier.begin([0], [source])
    guesses = torch.full_like(target, verifier.model.config.padding)
    counts = torch.full_like(state.lengths, len(output) - 1)
    rows: list[tuple[Cell | None, ...]] = []
    # As many iterations as tokens suffice (Proposition 1), unless a near tie falls another way than in greedy decoding.
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
    """The row, from 1, from which on each token is right."""
    last_wrong = [0] * tokens
    for number, row in enumerate(rows, start=1):
        for place, cell in enumerate(row):
            if cell is not None and cell.mark == "wrong":
                last_wrong[place] = number
    return tuple(number + 1 for number in last_wrong)


def _edges(settled: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Each token with those before it that were settled last before it was; the others follow from these."""
    edges = []
    for token, when in enumerate(settled):
        latest = max((earlier for earlier in settled[:token] if earlier < when), default=None)
        edges += [(place, token) for place in range(token) if settled[place] == latest]
    return tuple(edges)
