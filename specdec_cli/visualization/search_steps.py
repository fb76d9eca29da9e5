"""The steps of a search that does not write from left to right: which tokens it wrote in each step, and at which end."""

from collections.abc import Sequence

import torch

from specdec_cli.decoding.verifier import Verifier
from specdec_cli.text.folding import folded_positions
from specdec_cli.text.tokenizer import Tokenizer
from specdec_cli.visualization.picture import Cell, Picture


@torch.inference_mode()
def search_steps(verifier: Verifier, tokenizer: Tokenizer, decoding: str, source: Sequence[int], output: Sequence[int]) -> Picture:
    """The steps in which the model wrote `output` (ids), with the probability of each token after those of the steps before.

    Where a step writes the end twice, its probability is the product of both.
    """
    config = verifier.model.config
    ends = output[-1] == config.eos
    places = folded_positions(len(output) - ends, config.order)[: None if ends else len(output)]
    written = torch.tensor([output[place] for place in places], device=verifier.device)
    prefix = torch.cat([written.new_tensor(config.start), written[: -config.step]])
    logits = verifier.model(torch.tensor([source], device=verifier.device), prefix[None])[0].float()
    likely = logits.softmax(-1).gather(1, written[:, None])[:, 0].tolist()
    probabilities = [1.0] * len(output)
    for place, probability in zip(places, likely, strict=True):
        probabilities[place] *= probability
    target = tokenizer.pieces(output)
    cells = [Cell(piece, "verified", round(probability, 4)) for piece, probability in zip(target, probabilities, strict=True)]
    known = [Cell(piece, "known") for piece in target]
    rows = []
    for start in range(0, len(places), config.step):
        before, now = set(places[:start]), set(places[start : start + config.step])
        rows.append(tuple(cells[place] if place in now else known[place] if place in before else None for place in range(len(output))))
    return Picture(decoding, tuple(tokenizer.source_pieces(source)), tuple(target), tuple(rows))
