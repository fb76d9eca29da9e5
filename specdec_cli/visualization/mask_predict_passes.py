"""Pictures of the passes of Mask-Predict: the tokens that each pass predicts."""

from collections.abc import Sequence
from math import exp

import torch

from specdec_cli.decoding.searches.mask_predict import passes
from specdec_cli.decoding.verifier import MULTIPLE, Verifier, round_up
from specdec_cli.text.tokenize.tokenizer import Tokenizer
from specdec_cli.visualization.picture import Cell, Picture


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
