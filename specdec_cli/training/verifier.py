"""Training of verifiers: left to right, in both orders, and with masked targets."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from specdec_cli.decoding import graphs
from specdec_cli.model.bundle import Bundle, save_bundle
from specdec_cli.model.order import Order, folded_positions
from specdec_cli.model.transformer import Transformer
from specdec_cli.training.data import SentencePair, ShapeGroup, epoch_order, evaluation_order, group_by_shape, pad
from specdec_cli.training.device_text import DeviceRows
from specdec_cli.training.loss import projected_cross_entropy
from specdec_cli.training.recipe import RunSettings


class VerifierObjective(nn.Module):
    """Label-smoothed cross-entropy of the next token (Ge et al. 2022, equation 1).

    In a generation order of two tokens a step, it is that of both tokens of the next step (Imamura and Sumita 2020, equation 6).
    """

    def __init__(self, transformer: Transformer, smoothing: float) -> None:
        super().__init__()
        self.transformer = transformer
        self.smoothing = smoothing

    def forward(self, source: Tensor, target: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Return the weighted sum of the losses (nats) of the target tokens and the sum of the weights, both scalar tensors.

        `source` (B, S) and `target` (B, T) are padded ids; targets are in generation order and end with EOS. `weights` (B, T) are
        the loss weights of the target tokens, 0 at padding.
        """
        config = self.transformer.config
        start = [torch.full_like(target[:, :1], token) for token in config.start]
        states = self.transformer.teach(self.transformer.encode(source), torch.cat([*start, target[:, : -config.step]], dim=1))
        smoothing = self.smoothing if self.training else 0.0
        output = self.transformer.output
        loss = projected_cross_entropy(states.flatten(0, 1), output.weight, target.flatten(), weights.flatten(), smoothing, output.bias)
        return loss, weights.sum()


class VerifierTask:
    """Trains `bundle.verifier` on `train`; the best state has the lowest loss on `dev` (nats a token, without smoothing)."""

    higher_is_better = False
    capturable = True
    criterion = "dev_loss"

    def __init__(self, bundle: Bundle, train: Sequence[SentencePair], dev: Sequence[SentencePair], run: RunSettings) -> None:
        self.bundle, self.train, self.dev, self.run = bundle, train, dev, run
        self.objective: nn.Module = VerifierObjective(bundle.verifier, run.smoothing)
        max_length = bundle.verifier.config.max_positions
        self._texts: dict[tuple[bool, float], _DeviceText] = {}
        self._groups = group_by_shape(train, run.batch_tokens, max_length)
        self._dev_groups = group_by_shape(dev, run.batch_tokens, max_length)

    def batches(self, epoch: int) -> Sequence[tuple[ShapeGroup, tuple[int, ...]]]:
        """The batches of an epoch in order, each as its shape group and the indices of its pairs in `train`."""
        return epoch_order(self._groups, self.run.seed, epoch)

    def batch(self, key: Any) -> tuple[Tensor, ...]:
        """Source ids (B, S), target ids (B, T) in generation order, and loss weights (B, T) of the batch `key` from `batches`."""
        return self._tensors(self.train, key, self.run.edit_weight)

    def evaluate(self) -> Mapping[str, float]:
        """The loss (nats a token) and the perplexity on the dev data, under the keys `dev_loss` and `dev_perplexity`."""
        total, tokens = 0.0, 0.0
        for key in evaluation_order(self._dev_groups):
            loss, count = self.objective(*self._tensors(self.dev, key))
            total, tokens = total + float(loss), tokens + float(count)
        mean = total / max(tokens, 1.0)
        return {"dev_loss": mean, "dev_perplexity": math.exp(min(mean, 50.0))}

    def save(self, folder: Path) -> None:
        save_bundle(self.bundle, folder)

    def _tensors(self, pairs: Sequence[SentencePair], key: Any, edit_weight: float = 1.0) -> tuple[Tensor, ...]:
        group, indices = key
        config = self.bundle.verifier.config
        device = next(self.objective.parameters()).device
        if not graphs.can_branch(device):
            return self._on_device(pairs, edit_weight, device).batch(group, indices, config.padding)
        positions = [folded_positions(len(pairs[i].target) - 1, config.order) for i in indices]
        folded = [[pairs[i].target[place] for place in each] for i, each in zip(indices, positions, strict=True)]
        source = pad([pairs[i].source for i in indices], group.source_width, config.padding)
        target = pad(folded, group.target_width, config.padding)
        weights = (target != config.padding).float()
        if edit_weight != 1.0:
            for row, index in enumerate(indices):
                edited = set(edited_positions(pairs[index]))
                weights[row, [column for column, place in enumerate(positions[row]) if place in edited]] = edit_weight
        return source.to(device), target.to(device), weights.to(device)

    def _on_device(self, pairs: Sequence[SentencePair], edit_weight: float, device: torch.device) -> "_DeviceText":
        """`pairs` on `device`, kept for later batches."""
        name = pairs is self.dev, edit_weight
        if name not in self._texts:
            self._texts[name] = _DeviceText(pairs, self.bundle.verifier.config.order, edit_weight, device)
        return self._texts[name]


class _DeviceText:
    """`pairs` on `device`, with the targets in generation order and the loss weights of their tokens."""

    def __init__(self, pairs: Sequence[SentencePair], order: Order, edit_weight: float, device: torch.device) -> None:
        positions = [folded_positions(len(pair.target) - 1, order) for pair in pairs]
        self._device = device
        self._sources = DeviceRows([pair.source for pair in pairs], device)
        self._targets = DeviceRows([[pair.target[at] for at in each] for pair, each in zip(pairs, positions, strict=True)], device)
        self._weights: DeviceRows | None = None
        if edit_weight != 1.0:
            edited = [set(edited_positions(pair)) for pair in pairs]
            weights = [[edit_weight if at in own else 1.0 for at in each] for own, each in zip(edited, positions, strict=True)]
            self._weights = DeviceRows(weights, device, torch.float32)

    def batch(self, group: ShapeGroup, indices: Sequence[int], padding: int) -> tuple[Tensor, Tensor, Tensor]:
        """Sources (B, S), targets (B, T) and loss weights (B, T) of the pairs with these indices."""
        rows = graphs.to_device(indices, self._device)
        target = self._targets.padded(rows, group.target_width, padding)
        weights = (target != padding).float() if self._weights is None else self._weights.padded(rows, group.target_width, 0)
        return self._sources.padded(rows, group.source_width, padding), target, weights


def edited_positions(pair: SentencePair) -> list[int]:
    """The positions (from 0) of target tokens that are inserted or replaced, or that follow tokens deleted from the source."""
    edits = SequenceMatcher(None, pair.source, pair.target, autojunk=False).get_opcodes()
    return [index for kind, _, _, start, end in edits if kind != "equal" for index in range(start, max(end, start + 1))]


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
