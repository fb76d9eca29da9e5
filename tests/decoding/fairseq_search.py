"""fairseq's beam search (SequenceGenerator) for one sentence, as a reference."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

LogProbabilities = Callable[[list[list[int]]], Tensor]
"""The log probabilities (N, V) of the next token after each of N prefixes."""


@dataclass(frozen=True)
class Rules:
    """Special tokens, and the largest number of tokens of an output, EOS included."""

    start: int
    padding: int
    eos: int
    longest: int


def fairseq_search(
    log_probabilities: LogProbabilities, rules: Rules, beam: int, length_penalty: float, min_length: int = 1, prefix: int | None = None
) -> list[tuple[float, list[int]]]:
    """Normalised scores and ids of the outputs for one sentence, best first, with fairseq's defaults."""
    prefixes, running, finalized = [[rules.start]] * beam, torch.zeros(beam), list[tuple[float, list[int]]]()
    for step in range(rules.longest):
        scores = log_probabilities(prefixes)
        scores[:, rules.padding] = -torch.inf
        if step == rules.longest - 1:
            scores[:, torch.arange(scores.shape[1]) != rules.eos] = -torch.inf
        if prefix is not None and step == 0:
            scores[:, torch.arange(scores.shape[1]) != prefix] = -torch.inf
        elif step < min_length:
            scores[:, rules.eos] = -torch.inf
        total = scores[:1] if step == 0 else scores + running[:, None]
        best, places = total.flatten().topk(min(2 * beam, total.numel() - 1))
        candidates = [
            (float(score), prefixes[place // scores.shape[1]], place % scores.shape[1])
            for score, place in zip(best, places.tolist(), strict=True)
        ]
        ends = [token == rules.eos and score > -torch.inf for score, _, token in candidates]
        for (score, ids, token), end in list(zip(candidates, ends, strict=True))[:beam]:
            if end and len(finalized) < beam:
                finalized.append((score / (step + 1) ** length_penalty, [*ids[1:], token]))
        if len(finalized) == beam:
            break
        active = [candidate for candidate, end in zip(candidates, ends, strict=True) if not end][:beam]
        running = torch.tensor([score for score, _, _ in active])
        prefixes = [[*ids, token] for _, ids, token in active]
    return sorted(finalized, key=lambda found: -found[0])
