"""Training of a verifier or teacher: teacher forcing over parallel text."""

import math
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from specdec_cli.model.bundle import Bundle, save_bundle
from specdec_cli.model.transformer import Transformer
from specdec_cli.text.folding import folded_places
from specdec_cli.training.batches import Group, SentencePair, epoch_order, group_by_shape, pad
from specdec_cli.training.loss import projected_cross_entropy
from specdec_cli.training.recipe import RunSettings


class VerifierObjective(nn.Module):
    """Label-smoothed cross-entropy of the next token (technical report, equation 1), or of both tokens of the next step
    (Imamura and Sumita, equation 6), given the true tokens before.
    """

    def __init__(self, transformer: Transformer, smoothing: float) -> None:
        super().__init__()
        self.transformer = transformer
        self.smoothing = smoothing

    def forward(self, source: Tensor, target: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Loss summed over `target` (B, T), which is folded, ends with EOS and is padded, given `source` (B, S); and its weight.

        `weights` (B, T) says how much each token counts; 0 where it is padding.
        """
        config = self.transformer.config
        start = target.new_tensor(config.start).expand(len(target), -1)
        states = self.transformer.teach(self.transformer.encode(source), torch.cat([start, target[:, : -config.step]], dim=1))
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
        config = self.bundle.verifier.config
        device = next(self.objective.parameters()).device
        places = [folded_places(len(pairs[i].target) - 1, config.order) for i in indices]
        folded = [[pairs[i].target[place] for place in each] for i, each in zip(indices, places, strict=True)]
        source = pad([pairs[i].source for i in indices], group.source, config.padding)
        target = pad(folded, group.target, config.padding)
        weights = (target != config.padding).float()
        if edit_weight != 1.0:
            for row, index in enumerate(indices):
                edited = set(edited_positions(pairs[index]))
                weights[row, [column for column, place in enumerate(places[row]) if place in edited]] = edit_weight
        return source.to(device), target.to(device), weights.to(device)


def edited_positions(pair: SentencePair) -> list[int]:
    """The places of the target where it departs from the source: tokens that are new, and the token after a gap."""
    edits = SequenceMatcher(None, pair.source, pair.target, autojunk=False).get_opcodes()
    return [place for kind, _, _, start, end in edits if kind != "equal" for place in range(start, max(end, start + 1))]
