"""Floating-point operations of the training of a drafter."""

from collections.abc import Callable, Sequence

import numpy

from specdec_cli.model.drafters import AnyDrafter
from specdec_cli.model.training_flops import DrafterUpdate, update_drafter
from specdec_cli.training.batches import SentencePair
from specdec_cli.training.drafter import DrafterTask, draw_block_size, draw_cuts
from specdec_cli.training.progress import Progress
from specdec_cli.training.recipe import DrafterRecipe

SAMPLE = 2000
"""The most sentences whose operations are counted; the others are taken to need as many."""


def operations_counter(task: DrafterTask) -> Callable[[Progress], float]:
    """A function that returns the floating-point operations of training up to a progress, without padding."""
    an_update = task.sentences_an_update * operations_a_sentence(task.network, task.recipe, task.outputs)
    return lambda progress: progress.update * an_update


def operations_a_sentence(network: AnyDrafter, recipe: DrafterRecipe, outputs: Sequence[SentencePair]) -> float:
    """Floating-point operations of training for each sentence of `outputs`, without padding, averaged over a sample.

    Only matrix products are counted (see model/flops.py). Block sizes and prefixes are drawn as in training. Slots that glancing
    shows to the drafter count as predicted.
    """
    generator = numpy.random.default_rng(recipe.run.seed)
    sample = outputs[:: -(-len(outputs) // SAMPLE)]
    total, config = 0, network.config
    for pair in sample:
        visible = draw_block_size(generator, config.max_block, vary=recipe.vary_block)
        cuts = [cut for cut in draw_cuts(generator, len(pair.target), recipe.cuts, config.shortest_prefix) if cut >= 0]
        predicted = sum(min(visible, len(pair.target) - cut) for cut in cuts)
        glancing, tuned = any(recipe.glancing), recipe.verifier == "fine-tuned"
        one = DrafterUpdate(len(pair.source), len(pair.target), len(cuts), predicted, glancing, tuned)
        total += update_drafter(network.verifier.config, config, one)
    return total / len(sample)
