"""Floating-point operations of the training of a drafter."""

from collections.abc import Callable, Sequence

import numpy

from specdec_cli.model.drafters import AnyDrafter
from specdec_cli.model.heads import Heads
from specdec_cli.model.training_flops import DrafterUpdate, update_drafter
from specdec_cli.training.batches import SentencePair
from specdec_cli.training.drafter import DrafterTask, draw_cuts
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
    shortest = 1 if isinstance(network, Heads) and not network.config.start else 0
    sample = outputs[:: -(-len(outputs) // SAMPLE)]
    total, largest = 0, network.config.max_block
    for pair in sample:
        varied = recipe.vary_block and generator.random() >= 0.5
        visible = int(generator.integers(1, largest + 1)) if varied else largest
        cuts = [cut for cut in draw_cuts(generator, len(pair.target), recipe.cuts, shortest) if cut >= 0]
        predicted = sum(min(visible, len(pair.target) - cut) for cut in cuts)
        glancing, tuned = any(recipe.glancing), recipe.verifier == "fine-tuned"
        one = DrafterUpdate(len(pair.source), len(pair.target), len(cuts), predicted, glancing, tuned)
        total += update_drafter(network.verifier.config, network.config, one)
    return total / len(sample)
