"""Training of a masked model for Mask-Predict: it predicts random words from the others, and how many there are."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from specdec_cli.model.bundle import Bundle
from specdec_cli.model.transformer import Transformer
from specdec_cli.training.batches import SentencePair, epoch_order
from specdec_cli.training.loss import projected_cross_entropy
from specdec_cli.training.recipe import RunSettings
from specdec_cli.training.verifier import VerifierTask


def draw_masks(words: Tensor, width: int, generator: torch.Generator | None = None) -> Tensor:
    """Which of `width` places of each row are masked (B, width): 1 to all of its first `words` (B,), each number equally likely."""
    rows, device = len(words), words.device
    counts = (torch.rand(rows, generator=generator, device=device) * words).long() + 1
    order = torch.rand(rows, width, generator=generator, device=device)
    order.masked_fill_(torch.arange(width, device=device) >= words[:, None], 2.0)
    return order.argsort(1).argsort(1) < counts.minimum(words)[:, None]


@dataclass(frozen=True)
class MaskedLoss:
    """Losses in nats: `tokens` summed over the masked tokens, which weigh `weight`; `lengths` summed over the sentences, of
    which so many have the `right` length as the most likely one.
    """

    tokens: Tensor
    weight: Tensor
    lengths: Tensor
    right: Tensor


class MaskedObjective(nn.Module):
    """Label-smoothed cross-entropy of the masked tokens given the others, and cross-entropy of the length
    (Ghazvininejad et al. 2019, Sections 2 and 3.3).
    """

    def __init__(self, transformer: Transformer, smoothing: float, length_weight: float) -> None:
        super().__init__()
        self.transformer = transformer
        self.smoothing, self.length_weight = smoothing, length_weight

    def forward(self, source: Tensor, target: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Loss summed over the masked tokens and the lengths; and the weight of these tokens. See `measure`."""
        loss = self.measure(source, target, weights)
        return loss.tokens + self.length_weight * loss.lengths, loss.weight

    def measure(self, source: Tensor, target: Tensor, weights: Tensor) -> MaskedLoss:
        """The losses on `target` (B, T), which ends with EOS and is padded, given `source` (B, S).

        EOS is never masked. `weights` (B, T) says how much each token counts if it is masked. In evaluation mode the masks depend
        on the shape and the lengths of the batch alone.
        """
        model = self.transformer
        lengths = (target != model.config.padding).sum(1)
        generator = None if self.training else torch.Generator(target.device).manual_seed(0)
        masked = draw_masks(lengths - 1, target.shape[1], generator)
        memory = model.encode(source)
        states = model.teach(memory, target.masked_fill(masked, model.config.mask))
        weights, smoothing = weights * masked, self.smoothing if self.training else 0.0
        output = model.output
        loss = projected_cross_entropy(states.flatten(0, 1), output.weight, target.flatten(), weights.flatten(), smoothing, output.bias)
        assert model.length_head is not None
        logits = model.length_head(memory.states, memory.mask.ends).float()
        goals = model.length_head.classes(lengths - memory.mask.ends[:, 0])
        return MaskedLoss(loss, weights.sum(), F.cross_entropy(logits, goals, reduction="sum"), (logits.argmax(1) == goals).sum())


class MaskedTask(VerifierTask):
    """Trains `bundle.verifier`, a masked model, on `train`; judged by its loss on `dev` (nats a masked token, not smoothed, with
    the length's).
    """

    def __init__(self, bundle: Bundle, train: Sequence[SentencePair], dev: Sequence[SentencePair], run: RunSettings) -> None:
        super().__init__(bundle, train, dev, run)
        self.objective: MaskedObjective = MaskedObjective(bundle.verifier, run.smoothing, run.length_weight)

    def evaluate(self) -> Mapping[str, float]:
        """Loss, perplexity of the masked tokens, and the share of right lengths, on dev."""
        tokens = weight = lengths = right = sentences = 0.0
        for key in epoch_order(self._dev_groups, 0, 0):
            loss = self.objective.measure(*self._tensors(self.dev, key))
            tokens, weight = tokens + float(loss.tokens), weight + float(loss.weight)
            lengths, right = lengths + float(loss.lengths), right + float(loss.right)
            sentences += len(key[1])
        mean = tokens / max(weight, 1.0)
        both = mean + self.objective.length_weight * lengths / max(weight, 1.0)
        return {"dev_loss": both, "dev_perplexity": math.exp(min(mean, 50.0)), "dev_length_accuracy": right / max(sentences, 1.0)}
