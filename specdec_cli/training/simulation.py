"""Tokens per round computed by teacher forcing: the drafts after all prefixes of the verifier's output, in one pass."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from specdec_cli.model.drafters import AnyDrafter
from specdec_cli.model.heads import Heads
from specdec_cli.training.batches import SentencePair, pad, padded_width
from specdec_cli.training.blocks import block_states, encode_sentences

_MAX_CUTS = 256  # prefixes of a sentence in one pass; the attention mask grows with their square
_MAX_POSITIONS = 16384  # positions in one pass, for drafters that take one row per prefix


@dataclass(frozen=True)
class Simulation:
    """The numbers of rounds and emitted tokens of exact decoding with `block_size`, and the accuracy of the slots.

    `slot_accuracy[j]` is the share, of all prefixes of all outputs, after which slots 0 to j all equal the verifier's tokens.
    """

    block_size: int
    rounds: int
    tokens: int
    slot_accuracy: tuple[float, ...]

    @property
    def tokens_per_round(self) -> float:
        """Emitted tokens, EOS included, divided by rounds."""
        return self.tokens / max(self.rounds, 1)


@torch.no_grad()
def simulate(network: AnyDrafter, outputs: Sequence[SentencePair], block_size: int) -> Simulation:
    """Compute, by teacher forcing, how many rounds exact decoding with `network` takes for `outputs`, in blocks of `block_size` slots.

    `outputs` are pairs of a source and the verifier's greedy output, ids ending with EOS.
    Raises ValueError for a source or output longer than the verifier's `max_positions`.
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
    """The number of drafted tokens that exact verification accepts after each prefix (B, T)."""
    sentences = encode_sentences(network.verifier, source, target)
    rows, length = target.shape
    # With bidirectional attention each prefix has its own row, so fewer fit into a pass.
    shared = isinstance(network, Heads) or network.config.attention == "causal"
    cuts_per_pass = _MAX_CUTS if shared else max(1, _MAX_POSITIONS // (rows * (length + block_size)))
    drafted = []
    for start in range(0, length, cuts_per_pass):
        cuts = torch.arange(start, min(start + cuts_per_pass, length), device=target.device)
        states = block_states(network, sentences, cuts.expand(rows, -1), block_size, block_size)
        tokens = network.choose(states.flatten(0, 1), sentences.prefix[:, cuts].flatten())
        drafted.append(tokens.view(rows, len(cuts), block_size))
    drafted[0][:, : network.config.shortest_prefix] = -1  # no draft after a shorter prefix
    beyond = torch.full((rows, block_size), -1, device=target.device)
    expected = torch.cat([target, beyond], dim=1).unfold(1, block_size, 1)[:, :length]
    return (torch.cat(drafted, dim=1) == expected).cumprod(2).sum(2)


def _batches(
    outputs: Sequence[SentencePair], padding: int, max_length: int, positions: int = 512
) -> Iterator[tuple[Tensor, Tensor, list[int]]]:
    ordered = sorted(outputs, key=lambda pair: max(len(pair.source), len(pair.target)))
    while ordered:
        width = padded_width(max(len(ordered[-1].source), len(ordered[-1].target)), max_length)
        count = max(1, positions // width)
        part, ordered = ordered[-count:], ordered[:-count]
        yield pad([p.source for p in part], width, padding), pad([p.target for p in part], width, padding), [len(p.target) for p in part]
