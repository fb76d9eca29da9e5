"""Training of drafters."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy
import torch
from torch import Tensor, nn

from specdec_cli.decoding import graphs
from specdec_cli.decoding.options import DecodingOptions, resolve
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.engines.reference import Engine
from specdec_cli.model.bundle import Bundle, save_bundle
from specdec_cli.model.drafter import AnyDrafter, BlockDrafter
from specdec_cli.training.blocks import EncodedSentences, block_states, encode_sentences, simulate
from specdec_cli.training.data import SentencePair, ShapeGroup, epoch_order, group_by_shape, pad
from specdec_cli.training.device_text import DeviceRows
from specdec_cli.training.loss import projected_cross_entropy
from specdec_cli.training.recipe import DrafterRecipe


def glance(
    network: BlockDrafter, sentences: EncodedSentences, cuts: Tensor, visible: int, labels: Tensor, loss_mask: Tensor, ratio: float
) -> tuple[Tensor, Tensor]:
    """Draw the target tokens to put into the drafter's input; return them and the remaining loss mask.

    `cuts` (B, M) are the prefix lengths of the blocks, `labels` (B, M, K) the ids that the slots should predict, and the boolean
    `loss_mask` (B, M, K) is true for slots with a loss. A first pass without gradients, with the same dropout as the training pass,
    counts the wrong slots of each block; `ratio` times as many slots of the block are drawn at random. The label of a drawn
    slot is put into the input of the next slot (shifted layout) or of the slot itself (unshifted), and the drawn slot is
    taken out of the loss. Returns ids (B, M, K), -1 where the mask token stays, and a new boolean loss mask (B, M, K).
    """
    # Drawn before the first pass: no random number may be drawn between the two passes but for their dropout.
    order = torch.rand(labels.shape, device=labels.device).masked_fill(~loss_mask, 2.0)
    shifted = network.config.layout == "shifted"
    if shifted:
        order[..., visible - 1 :] = 2.0  # the last slot of a block has no next slot
    devices = [labels.device] if labels.is_cuda else []
    with torch.no_grad(), torch.random.fork_rng(devices):
        states = block_states(network, sentences, cuts, labels.shape[2], visible)
        drafted = network.vocabulary.output(states).argmax(-1)
    wrong = ((drafted != labels) & loss_mask).sum(2)
    count = (wrong * ratio).long()
    rank = order.argsort(2).argsort(2)
    hidden = (rank < count[..., None]) & (order < 2.0)
    glanced = torch.where(hidden, labels, -1)
    if shifted:
        glanced = torch.cat([torch.full_like(glanced[..., :1], -1), glanced[..., :-1]], dim=-1)
    return glanced, loss_mask & ~hidden


_ROWS = 16


def greedy_outputs(bundle: Bundle, sources: Sequence[Sequence[int]]) -> list[SentencePair]:
    """Decode `sources` (ids ending with EOS) greedily with the verifier; return a pair of source and output ids for each, in order."""
    engine = Engine(bundle, resolve(DecodingOptions(decoding="greedy", batch_size=_ROWS), bundle))
    outputs = {h.number: h.ids for h in engine.decode([Sentence(number, source) for number, source in enumerate(sources)])}
    return [SentencePair(source, outputs[number]) for number, source in enumerate(sources)]


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
        if any(self.recipe.glancing) and float(ratio) > 0 and isinstance(network, BlockDrafter):
            glanced, loss_mask = glance(network, sentences, cuts.clamp_min(0), int(visible), labels, loss_mask, float(ratio))
        states = block_states(network, sentences, cuts.clamp_min(0), slots, visible, glanced)
        if network.chain is not None:
            states = network.chain(states, previous, self._known(previous), network.vocabulary)
        weights = loss_mask * self.recipe.slot_decay ** torch.arange(slots, device=cuts.device)
        loss = self._cross_entropy(states.flatten(0, 2), labels.flatten(), weights.flatten(), shortlist)
        if self.verifier is None:
            return loss, weights.sum()
        tokens = (target != verifier.config.padding).flatten().to(weights.dtype)
        next_token = self._cross_entropy(sentences.states.flatten(0, 1), target.flatten(), tokens)
        return loss + next_token, weights.sum() + tokens.sum()

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
    update has batches of `processes` processes.
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
        self.capturable = not any(recipe.glancing)
        self._texts: tuple[DeviceRows, DeviceRows] | None = None
        self._groups = group_by_shape(outputs, recipe.run.batch_tokens, bundle.verifier.config.max_positions)
        self._update_batches = recipe.run.accumulation * processes
        self._epoch_batches = len(epoch_order(self._groups, recipe.run.seed, 0))

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
        others = cuts, torch.tensor(visible), torch.tensor(first + (final - first) * done)
        device = self.network.like.device
        if not graphs.can_branch(device):
            rows = graphs.to_device(indices, device)
            sources, targets = self._texts = self._texts or self._on_device(device)
            return sources.padded(rows, group.source_width, padding), targets.padded(rows, group.target_width, padding), *others
        source = pad([p.source for p in pairs], group.source_width, padding)
        return source, pad([p.target for p in pairs], group.target_width, padding), *others

    def _on_device(self, device: torch.device) -> tuple[DeviceRows, DeviceRows]:
        """The sources and targets of `outputs` on `device`."""
        return DeviceRows([pair.source for pair in self.outputs], device), DeviceRows([pair.target for pair in self.outputs], device)

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
