"""Training of a verifier or teacher: teacher forcing over parallel text."""

import math
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from specdec_cli.model.attention import additive_mask
from specdec_cli.model.bundle import Bundle, save_bundle
from specdec_cli.model.transformer import Transformer
from specdec_cli.training.batches import Group, SentencePair, epoch_order, group_by_shape, pad
from specdec_cli.training.loss import projected_cross_entropy
from specdec_cli.training.recipe import RunSettings


class VerifierObjective(nn.Module):
    """Label-smoothed cross-entropy of the next token, given the true prefix (technical report, equation 1)."""

    def __init__(self, transformer: Transformer, smoothing: float) -> None:
        super().__init__()
        self.transformer = transformer
        self.smoothing = smoothing

    def forward(self, source: Tensor, target: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Loss summed over `target` (B, T), which ends with EOS and is padded, given `source` (B, S); and its weight.

        `weights` (B, T) says how much each token counts; 0 where it is padding.
        """
        config = self.transformer.config
        prefix = torch.cat([torch.full_like(target[:, :1], config.decoder_start), target[:, :-1]], dim=1)
        positions = torch.arange(target.shape[1], device=target.device)
        memory = self.transformer.encode(source)
        causal = additive_mask((positions[:, None] >= positions)[None, None], memory.states.dtype)
        states = self.transformer.decode(prefix, positions, causal, memory)
        smoothing = self.smoothing if self.training else 0.0
        output = self.transformer.output
        loss = projected_cross_entropy(states.flatten(0, 1), output.weight, target.flatten(), weights.flatten(), smoothing, output.bias)
        return loss, weights.sum()


class VerifierTask:
    """Trains `bundle.verifier` on `train`, judged by the loss on `dev` (nats a token, not smoothed)."""

    higher_is_better = False
    criterion = "dev_loss"

    def __init__(self, bundle: Bundle, train: Sequence[SentencePair], dev: Sequence[SentencePair], run: RunSettings) -> None:
        self.bundle, self.train, self.dev, self.run = bundle, train, dev, run
        self.objective: nn.Module = VerifierObjective(bundle.verifier, run.smoothing)
        longest = bundle.verifier.config.max_positions
        self._groups = group_by_shape(train, run.batch_tokens, longest)
        self._dev_groups = group_by_shape(dev, run.batch_tokens, longest)

    def batches(self, epoch: int) -> Sequence[tuple[Group, tuple[int, ...]]]:
        """Shape and indices of each batch."""
        return epoch_order(self._groups, self.run.seed, epoch)

    def batch(self, key: Any) -> tuple[Tensor, ...]:
        """Source ids, target ids and the weights of these."""
        return self._tensors(self.train, key, self.run.edit_weight)

    def evaluate(self) -> Mapping[str, float]:
        """Loss and perplexity on dev."""
        total, tokens = 0.0, 0.0
        for key in epoch_order(self._dev_groups, 0, 0):
            loss, count = self.objective(*self._tensors(self.dev, key))
            total, tokens = total + float(loss), tokens + float(count)
        mean = total / max(tokens, 1.0)
        return {"dev_loss": mean, "dev_perplexity": math.exp(min(mean, 50.0))}

    def save(self, folder: Path) -> None:
        """Store the bundle."""
        save_bundle(self.bundle, folder)

    def _tensors(self, pairs: Sequence[SentencePair], key: Any, edit_weight: float = 1.0) -> tuple[Tensor, ...]:
        group, indices = key
        padding = self.bundle.verifier.config.padding
        device = next(self.objective.parameters()).device
        source = pad([pairs[i].source for i in indices], group.source, padding)
        target = pad([pairs[i].target for i in indices], group.target, padding)
        weights = (target != padding).float()
        if edit_weight != 1.0:
            for row, index in enumerate(indices):
                weights[row, edited_positions(pairs[index])] = edit_weight
        return source.to(device), target.to(device), weights.to(device)


def edited_positions(pair: SentencePair) -> list[int]:
    """The places of the target where it departs from the source: tokens that are new, and the token after a gap."""
    edits = SequenceMatcher(None, pair.source, pair.target, autojunk=False).get_opcodes()
    return [place for kind, _, _, start, end in edits if kind != "equal" for place in range(start, max(end, start + 1))]
