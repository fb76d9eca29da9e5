"""Training of a masked model for Mask-Predict, which predicts masked target tokens and the length of the target."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from specdec_cli.model.bundle import Bundle
from specdec_cli.model.transformer import Transformer
from specdec_cli.training.batches import SentencePair, evaluation_order
from specdec_cli.training.loss import projected_cross_entropy
from specdec_cli.training.recipe import RunSettings
from specdec_cli.training.verifier import VerifierTask


def draw_masks(words: Tensor, width: int, generator: torch.Generator | None = None) -> Tensor:
    """Draw a boolean mask (B, width), true at the positions to mask.

    `words` (B,) are target lengths without EOS. In row i, a number from 1 to `words[i]` is drawn uniformly, and as many of the
    first `words[i]` positions are chosen at random (none if `words[i]` is 0).
    """
    rows, device = len(words), words.device
    counts = (torch.rand(rows, generator=generator, device=device) * words).long() + 1
    order = torch.rand(rows, width, generator=generator, device=device)
    order.masked_fill_(torch.arange(width, device=device) >= words[:, None], 2.0)
    return order.argsort(1).argsort(1) < counts.minimum(words)[:, None]


@dataclass(frozen=True)
class MaskedLoss:
    """Losses of a batch in nats (all fields are scalars).

    `tokens` is the weighted sum of the losses of the masked tokens, `weight` the sum of their weights, `lengths` the sum of the length
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
        """Return the loss of a batch (nats) and the sum of the weights of its masked tokens; the arguments are those of `measure`.

        The loss is the weighted sum over the masked tokens, plus the length losses times `length_weight`.
        """
        loss = self.measure(source, target, weights)
        return loss.tokens + self.length_weight * loss.lengths, loss.weight

    def measure(self, source: Tensor, target: Tensor, weights: Tensor) -> MaskedLoss:
        """Compute the losses of a batch with random masks.

        `source` (B, S) and `target` (B, T) are padded ids; targets end with EOS. `weights` (B, T) are the loss weights of the target
        tokens. EOS is never masked. In evaluation mode the masks depend only on the shape and the target lengths of the batch, and
        there is no label smoothing.
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

    The dev loss is the loss of the masked tokens without smoothing, plus the weighted length loss, in nats a masked token.
    """

    def __init__(self, bundle: Bundle, train: Sequence[SentencePair], dev: Sequence[SentencePair], run: RunSettings) -> None:
        super().__init__(bundle, train, dev, run)
        self._masked = MaskedObjective(bundle.verifier, run.smoothing, run.length_weight)
        self.objective = self._masked

    def evaluate(self) -> Mapping[str, float]:
        """The values on the dev data under the keys `dev_loss`, `dev_perplexity` and `dev_length_accuracy`.

        They are the loss of MaskedTask, the perplexity of the masked tokens, and the share (0 to 1) of sentences whose length is
        predicted rightly.
        """
        tokens = weight = lengths = right = sentences = 0.0
        for key in evaluation_order(self._dev_groups):
            loss = self._masked.measure(*self._tensors(self.dev, key))
            tokens, weight = tokens + float(loss.tokens), weight + float(loss.weight)
            lengths, right = lengths + float(loss.lengths), right + float(loss.right)
            sentences += len(key[1])
        mean = tokens / max(weight, 1.0)
        both = mean + self._masked.length_weight * lengths / max(weight, 1.0)
        return {"dev_loss": both, "dev_perplexity": math.exp(min(mean, 50.0)), "dev_length_accuracy": right / max(sentences, 1.0)}
