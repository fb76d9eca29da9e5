"""Training of a drafter on the greedy output of its verifier."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy
import torch
from torch import Tensor, nn

from specdec_cli.model.bundle import Bundle, save_bundle
from specdec_cli.model.drafter import BlockDrafter
from specdec_cli.model.drafters import AnyDrafter
from specdec_cli.training.batches import SentencePair, ShapeGroup, epoch_order, group_by_shape, pad
from specdec_cli.training.blocks import block_states, encode_sentences
from specdec_cli.training.glancing import glance
from specdec_cli.training.greedy_outputs import greedy_outputs
from specdec_cli.training.loss import projected_cross_entropy
from specdec_cli.training.recipe import DrafterRecipe
from specdec_cli.training.simulation import simulate


class DrafterObjective(nn.Module):
    """Weighted sum of the label-smoothed cross-entropies of the k tokens after each prefix (Ge et al. 2022, Section 3.2.1).

    Slot j of a block, counted from 0, has the weight `slot_decay` ** j; a slot whose label is given by glancing has none. If the
    recipe fine-tunes the verifier, the verifier's cross-entropy of every target token is added, with weight 1 per token.
    """

    def __init__(self, network: AnyDrafter, recipe: DrafterRecipe) -> None:
        super().__init__()
        self.network = network
        self.recipe = recipe
        self.verifier = network.verifier if recipe.verifier == "fine-tuned" else None

    def forward(self, source: Tensor, target: Tensor, cuts: Tensor, visible: Tensor, ratio: Tensor) -> tuple[Tensor, Tensor]:
        """Return the weighted sum of the losses (nats) and the sum of the weights, both scalar tensors.

        `source` (B, S) and `target` (B, T) are ids, padded; targets end with EOS. `cuts` (B, M) are the lengths of the prefixes
        after which M blocks are trained, negative for no block; the scalars `visible` and `ratio` are the block size of this
        batch and the glancing ratio.
        """
        network, verifier = self.network, self.network.verifier
        with torch.set_grad_enabled(self.verifier is not None and torch.is_grad_enabled()):
            sentences = encode_sentences(verifier, source, target)
        slots = network.config.max_block
        positions = cuts.clamp_min(0)[..., None] + torch.arange(slots, device=cuts.device)
        inside = (positions < target.shape[1]) & (cuts >= 0)[..., None]
        positions = positions.clamp_max(target.shape[1] - 1).flatten(1)
        labels = target.gather(1, positions).view(inside.shape)
        previous = sentences.prefix.gather(1, positions).view(inside.shape)
        loss_mask = inside & (labels != verifier.config.padding) & (torch.arange(slots, device=cuts.device) < visible)
        shortlist = network.config.shortlist or None
        if shortlist is not None:  # other tokens cannot be drafted: slots with such labels have no loss
            loss_mask &= labels < shortlist
            labels = labels.clamp_max(shortlist - 1)
        glanced = None
        if float(ratio) > 0 and isinstance(network, BlockDrafter):
            glanced, loss_mask = glance(network, sentences, cuts.clamp_min(0), int(visible), labels, loss_mask, float(ratio))
        states = block_states(network, sentences, cuts.clamp_min(0), slots, int(visible), glanced)
        if network.chain is not None:
            states = network.chain(states, previous, self._known(previous), network.vocabulary)
        weights = loss_mask * self.recipe.slot_decay ** torch.arange(slots, device=cuts.device)
        loss = self._cross_entropy(states.flatten(0, 2), labels.flatten(), weights.flatten(), shortlist)
        if self.verifier is None:
            return loss, weights.sum()
        tokens = (target != verifier.config.padding).flatten().to(weights.dtype)
        own = self._cross_entropy(sentences.states.flatten(0, 1), target.flatten(), tokens)
        return loss + own, weights.sum() + tokens.sum()

    def _cross_entropy(self, states: Tensor, labels: Tensor, weights: Tensor, vocabulary: int | None = None) -> Tensor:
        """The weighted sum of the losses of `labels` (N,) given `states` (N, W), among the tokens with ids below `vocabulary`."""
        output = self.network.vocabulary.output
        bias = None if output.bias is None else output.bias[:vocabulary]
        return projected_cross_entropy(states, output.weight[:vocabulary], labels, weights, self.recipe.run.smoothing, bias)

    def _known(self, previous: Tensor) -> Tensor:
        """Whether each slot conditions on the true previous token: the first always, others with probability `recipe.known`."""
        known = torch.rand(previous.shape, device=previous.device) < self.recipe.known
        known[..., 0] = True
        return known


class DrafterTask:
    """Trains `bundle.drafter` on `outputs`, pairs of a source and the verifier's greedy output.

    The best state is the one with the most tokens per round, averaged over the dev sets `dev` (pairs as in `outputs`, by name). An
    update has batches of `processes` processes, and `sentences_an_update` sentences on average.
    """

    higher_is_better = True
    criterion = "tokens_per_round"

    def __init__(
        self,
        bundle: Bundle,
        outputs: Sequence[SentencePair],
        dev: Mapping[str, Sequence[SentencePair]],
        recipe: DrafterRecipe,
        processes: int = 1,
    ) -> None:
        assert bundle.drafter is not None
        self.bundle, self.outputs, self.dev, self.recipe = bundle, outputs, dev, recipe
        self.network = bundle.drafter
        bundle.verifier.requires_grad_(recipe.verifier == "fine-tuned")
        self.objective: nn.Module = DrafterObjective(self.network, recipe)
        self._groups = group_by_shape(outputs, recipe.run.batch_tokens, bundle.verifier.config.max_positions)
        self._update_batches = recipe.run.accumulation * processes
        epoch = epoch_order(self._groups, recipe.run.seed, 0)
        self._epoch_batches = len(epoch)
        self.sentences_an_update = self._update_batches * sum(len(indices) for _, indices in epoch) / len(epoch)

    def batches(self, epoch: int) -> Sequence[tuple[int, int, ShapeGroup, tuple[int, ...]]]:
        """The batches of an epoch in order, each as (epoch, number in the epoch, shape group, indices into `outputs`)."""
        order = epoch_order(self._groups, self.recipe.run.seed, epoch)
        return [(epoch, number, group, indices) for number, (group, indices) in enumerate(order)]

    def batch(self, key: Any) -> tuple[Tensor, ...]:
        """The arguments of `DrafterObjective.forward` for the batch `key`, an element of `batches`.

        The prefix lengths and the block size depend only on seed, epoch and number of the batch. The glancing ratio changes
        linearly over the run.
        """
        epoch, number, group, indices = key
        generator = numpy.random.default_rng((self.recipe.run.seed, epoch, number))
        pairs = [self.outputs[i] for i in indices]
        padding = self.network.verifier.config.padding
        config = self.network.config
        cuts = torch.tensor([draw_cuts(generator, len(pair.target), self.recipe.cuts, config.shortest_prefix) for pair in pairs])
        visible = draw_block_size(generator, config.max_block, vary=self.recipe.vary_block)
        update = (epoch * self._epoch_batches + number) / self._update_batches
        done = min(1.0, max(epoch / self.recipe.run.max_epochs, update / self.recipe.run.max_updates))
        first, final = self.recipe.glancing
        source = pad([p.source for p in pairs], group.source_width, padding)
        target = pad([p.target for p in pairs], group.target_width, padding)
        return source, target, cuts, torch.tensor(visible), torch.tensor(first + (final - first) * done)

    def evaluate(self) -> Mapping[str, float]:
        """Tokens per round on each dev set, their mean, and the accuracy of the first three slots averaged over dev sets.

        The keys are `tokens_per_round` (the mean), `tokens_per_round_NAME` for the dev set NAME, and `slot_1` to `slot_3`, the
        shares of prefixes after which the slots up to this one are all right. If the verifier is fine-tuned, its greedy output is
        computed anew, and the metrics refer to that; `same_lines` is the share of dev lines whose greedy output equals that of the
        verifier before training.
        """
        largest, dev = self.network.config.max_block, self.dev
        if self.recipe.verifier == "fine-tuned":
            dev = {name: greedy_outputs(self.bundle, [pair.source for pair in pairs]) for name, pairs in dev.items()}
        results = {name: simulate(self.network, pairs, largest) for name, pairs in dev.items()}
        figures = {f"tokens_per_round_{name}": r.tokens_per_round for name, r in results.items()}
        slots = [sum(r.slot_accuracy[j] for r in results.values()) / len(results) for j in range(min(3, largest))]
        figures |= {f"slot_{j + 1}": value for j, value in enumerate(slots)}
        if dev is not self.dev:
            same = [now.target == before.target for name in dev for now, before in zip(dev[name], self.dev[name], strict=True)]
            figures["same_lines"] = sum(same) / len(same)
        return {"tokens_per_round": sum(r.tokens_per_round for r in results.values()) / len(results)} | figures

    def save(self, folder: Path) -> None:
        save_bundle(self.bundle, folder)


def draw_block_size(generator: numpy.random.Generator, largest: int, *, vary: bool) -> int:
    """The block size of a batch: `largest`, or with `vary`, half of the time, one drawn from 1 to `largest`."""
    varied = vary and generator.random() >= 0.5
    return int(generator.integers(1, largest + 1)) if varied else largest


def draw_cuts(generator: numpy.random.Generator, length: int, count: int, shortest: int = 0) -> list[int]:
    """Draw `count` prefix lengths of a target of `length` tokens, each from `shortest` to `length` - 1.

    A single length is drawn uniformly (Ge et al. 2022, Section 3.2.1). With `count` above 1, the first length is `shortest`, and
    one is drawn from each of `count` - 1 strata of equal width. Duplicates are dropped, and -1 fills the list up to `count`.
    """
    if length <= shortest:
        return [-1] * count
    if count == 1:
        return [int(generator.integers(shortest, length))]
    edges = numpy.linspace(shortest + 1, length, count)
    drawn = {int(generator.integers(int(low), int(high))) for low, high in pairwise(edges) if int(high) > int(low)}
    cuts = [shortest, *sorted(drawn - {shortest})]
    return cuts + [-1] * (count - len(cuts))
