"""Pictures made from decodings: rounds with drafts, the graph of Jacobi decoding, steps of searches, passes of Mask-Predict."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

import torch

from specdec_cli.decoding.mask_predict import passes
from specdec_cli.decoding.rounds import RoundTrace
from specdec_cli.decoding.sentence import Hypothesis
from specdec_cli.decoding.state import Draft
from specdec_cli.decoding.verifier import MULTIPLE, Verifier, round_up
from specdec_cli.model.order import folded_positions
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


@torch.inference_mode()
def search_steps(verifier: Verifier, tokenizer: Tokenizer, decoding: str, source: Sequence[int], output: Sequence[int]) -> Picture:
    """The picture of the steps in which the model emits `output` (ids) for `source` (ids), in its generation order.

    Each token has its probability given the tokens of earlier steps; if a step emits EOS twice, the product of both. `decoding` is
    the name of the search, for the title.
    """
    config = verifier.config
    has_eos = output[-1] == config.eos
    positions = folded_positions(len(output) - has_eos, config.order)[: None if has_eos else len(output)]
    ordered = torch.tensor([output[position] for position in positions], device=verifier.device)
    prefix = torch.cat([ordered.new_tensor(config.start), ordered[: -config.step]])
    network = verifier.network
    memory = network.encode(torch.tensor([source], device=verifier.device))
    logits = network.project(network.teach(memory, prefix[None]))[0].float()
    step_probabilities = logits.softmax(-1).gather(1, ordered[:, None])[:, 0].tolist()
    probabilities = [1.0] * len(output)
    for position, probability in zip(positions, step_probabilities, strict=True):
        probabilities[position] *= probability
    target = tokenizer.pieces(output)
    cells = [Cell(piece, "verified", round(probability, 4)) for piece, probability in zip(target, probabilities, strict=True)]
    known = [Cell(piece, "known") for piece in target]
    rows = []
    for start in range(0, len(positions), config.step):
        before, now = set(positions[:start]), set(positions[start : start + config.step])
        rows.append(
            tuple(
                cells[position] if position in now else known[position] if position in before else None for position in range(len(output))
            )
        )
    return Picture(decoding, tuple(tokenizer.source_pieces(source)), tuple(target), tuple(rows))


@torch.inference_mode()
def mask_predict_passes(verifier: Verifier, tokenizer: Tokenizer, source: Sequence[int], words: int, iterations: int) -> Picture:
    """Decode `source` (ids) by Mask-Predict in `iterations` passes, and return the picture: a row for each pass.

    `words` is the length of the output in tokens, without EOS. A cell has the probability of a token that its pass predicts.
    """
    config, network = verifier.config, verifier.network
    padded = [*source, *[config.padding] * (verifier.source_width(len(source)) - len(source))]
    memory = network.encode(torch.tensor([padded], device=verifier.device))
    rows: list[tuple[Cell | None, ...]] = []
    number = torch.tensor([words], device=verifier.device)
    for ids, scores, masked in passes(network, memory, number, round_up(words + 1, MULTIPLE), iterations):
        pieces = tokenizer.pieces(ids[0, :words].tolist())
        found = zip(pieces, scores[0].tolist(), masked[0].tolist(), strict=False)
        rows.append(tuple(Cell(piece, "verified", round(exp(score), 4)) if now else Cell(piece, "known") for piece, score, now in found))
    return Picture("mask-predict", tuple(tokenizer.source_pieces(source)), tuple(pieces), tuple(rows))
