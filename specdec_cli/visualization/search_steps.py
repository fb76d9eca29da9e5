"""Pictures of searches in other orders than left to right: the tokens that each step emits."""

from collections.abc import Sequence

import torch

from specdec_cli.decoding.verifier import Verifier
from specdec_cli.text.folding import folded_positions
from specdec_cli.text.tokenize.tokenizer import Tokenizer
from specdec_cli.visualization.picture import Cell, Picture


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
