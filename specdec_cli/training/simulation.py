"""Tokens per round without decoding: every cut of the verifier's own output, drafted in one pass."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from specdec_cli.model.drafters import AnyDrafter
from specdec_cli.model.heads import Heads
from specdec_cli.training.batches import SentencePair, pad, width_of
from specdec_cli.training.blocks import block_states, read_sentences

_CUTS = 256  # prefixes of a sentence in one pass: its mask grows with the square of their number
_POSITIONS = 16384  # of prefixes and blocks in one pass, where every cut has a row of its own


@dataclass(frozen=True)
class Simulation:
    """What exact decoding with a block size would have done: rounds and tokens, and how often each slot was right.

    `slot_accuracy[j]` is the share of all cuts at which the first j + 1 slots are all the verifier's.
    """

    block_size: int
    rounds: int
    tokens: int
    slot_accuracy: tuple[float, ...]

    @property
    def tokens_per_round(self) -> float:
        """All tokens, EOS included, over all rounds."""
        return self.tokens / max(self.rounds, 1)


@torch.no_grad()
def simulate(network: AnyDrafter, outputs: Sequence[SentencePair], block_size: int) -> Simulation:
    """Simulate exact decoding of `outputs` (sources and the verifier's greedy output) with `block_size`.

    Raises ValueError for a source or an output that is longer than the verifier's positions.
    """
    rounds = tokens = 0
    right = torch.zeros(block_size)
    cuts_seen = 0
    device, config = network.like.device, network.verifier.config
    for source, target, lengths in _batches(outputs, config.padding, config.max_positions):
        agreed = _agreement(network, source.to(device), target.to(device), block_size).cpu()
        for row, length in zip(agreed, lengths, strict=True):
            counts = row[:length].tolist()
            right += torch.stack([(row[:length] > j).sum() for j in range(block_size)])
            cuts_seen += length
            tokens += length
            position = 0
            while position < length:
                position += counts[position] + 1
                rounds += 1
    return Simulation(block_size, rounds, tokens, tuple((right / max(cuts_seen, 1)).tolist()))


def _agreement(network: AnyDrafter, source: Tensor, target: Tensor, block_size: int) -> Tensor:
    """For every cut (B, T), how many drafted tokens the verifier would have accepted."""
    sentences = read_sentences(network.verifier, source, target)
    rows, length = target.shape
    # A prefix that sees its block takes a row for each cut, so fewer fit into a pass.
    shared = isinstance(network, Heads) or network.config.attention == "causal"
    together = _CUTS if shared else max(1, _POSITIONS // (rows * (length + block_size)))
    drafted = []
    for start in range(0, length, together):
        cuts = torch.arange(start, min(start + together, length), device=target.device)
        states = block_states(network, sentences, cuts.expand(rows, -1), block_size, block_size)
        tokens = network.choose(states.flatten(0, 1), sentences.prefix[:, cuts].flatten())
        drafted.append(tokens.view(rows, len(cuts), block_size))
    if isinstance(network, Heads):
        drafted[0][:, 0] = -1  # no state has predicted the decoder start
    beyond = torch.full((rows, block_size), -1, device=target.device)
    expected = torch.cat([target, beyond], dim=1).unfold(1, block_size, 1)[:, :length]
    return (torch.cat(drafted, dim=1) == expected).cumprod(2).sum(2)


def _batches(
    outputs: Sequence[SentencePair], padding: int, longest: int, positions: int = 512
) -> Iterator[tuple[Tensor, Tensor, list[int]]]:
    ordered = sorted(outputs, key=lambda pair: max(len(pair.source), len(pair.target)))
    while ordered:
        width = width_of(max(len(ordered[-1].source), len(ordered[-1].target)), longest)
        count = max(1, positions // width)
        part, ordered = ordered[-count:], ordered[:-count]
        yield pad([p.source for p in part], width, padding), pad([p.target for p in part], width, padding), [len(p.target) for p in part]
