"""Training of a masked model for Mask-Predict: it predicts masked target tokens, and the length of the target."""

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
    """Draw a mask (B, width): in row i, a random number from 1 to `words[i]` of the first `words[i]` positions.

    `words` (B,) are target lengths without EOS. Every number of masked positions is equally likely.
    """
    rows, device = len(words), words.device
    counts = (torch.rand(rows, generator=generator, device=device) * words).long() + 1
    order = torch.rand(rows, width, generator=generator, device=device)
    order.masked_fill_(torch.arange(width, device=device) >= words[:, None], 2.0)
    return order.argsort(1).argsort(1) < counts.minimum(words)[:, None]


@dataclass(frozen=True)
class MaskedLoss:
    """Losses of a batch in nats (all fields are scalars).

    `tokens` is the weighted sum over the masked tokens, `weight` the sum of their weights, `lengths` the sum of the length
    losses of the sentences, and `right` the number of sentences whose predicted length is right.
    """

    tokens: Tensor
    weight: Tensor
    lengths: Tensor
    right: Tensor


class MaskedObjective(nn.Module):
    """Label-smoothed cross-entropy of the masked tokens and cross-entropy of the length (Ghazvininejad et al. 2019, Sections 2, 3.3)."""

    def __init__(self, transformer: Transformer, smoothing: float, length_weight: float) -> None:
        super().__init__()
        self.transformer = transformer
        self.smoothing, self.length_weight = smoothing, length_weight

    def forward(self, source: Tensor, target: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        """The sum of token losses and weighted length losses, and the sum of the weights of the masked tokens; see `measure`."""
        loss = self.measure(source, target, weights)
        return loss.tokens + self.length_weight * loss.lengths, loss.weight

    def measure(self, source: Tensor, target: Tensor, weights: Tensor) -> MaskedLoss:
        """Compute the losses of a batch with random masks.

        `source` (B, S) ids; `target` (B, T) ids, ending with EOS and padded; `weights` (B, T) loss weights of the tokens. EOS
        is never masked. In evaluation mode the random masks depend only on the shape and the lengths of the batch.
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
        labels = model.length_head.classes(lengths - memory.mask.ends[:, 0])
        return MaskedLoss(loss, weights.sum(), F.cross_entropy(logits, labels, reduction="sum"), (logits.argmax(1) == labels).sum())


class MaskedTask(VerifierTask):
    """Trains `bundle.verifier`, a masked model, on `train`; the best state has the lowest loss on `dev`.

    That is the loss in nats a masked token without smoothing, plus the weighted length loss.
    """

    def __init__(self, bundle: Bundle, train: Sequence[SentencePair], dev: Sequence[SentencePair], run: RunSettings) -> None:
        super().__init__(bundle, train, dev, run)
        self._masked = MaskedObjective(bundle.verifier, run.smoothing, run.length_weight)
        self.objective = self._masked

    def evaluate(self) -> Mapping[str, float]:
        """Loss, perplexity of the masked tokens, and length accuracy on the dev data."""
        tokens = weight = lengths = right = sentences = 0.0
        for key in epoch_order(self._dev_groups, 0, 0):
            loss = self._masked.measure(*self._tensors(self.dev, key))
            tokens, weight = tokens + float(loss.tokens), weight + float(loss.weight)
            lengths, right = lengths + float(loss.lengths), right + float(loss.right)
            sentences += len(key[1])
        mean = tokens / max(weight, 1.0)
        both = mean + self._masked.length_weight * lengths / max(weight, 1.0)
        return {"dev_loss": both, "dev_perplexity": math.exp(min(mean, 50.0)), "dev_length_accuracy": right / max(sentences, 1.0)}
