"""The operations of training a drafter, counted from its configuration, equal those that PyTorch counts."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from specdec_cli.model.bundle import Bundle
from specdec_cli.model.drafter import make_drafter
from specdec_cli.model.drafter_config import DrafterConfig, HeadsConfig
from specdec_cli.model.flops import DrafterUpdate, update_drafter
from specdec_cli.training.drafter import DrafterObjective
from specdec_cli.training.recipe import DrafterRecipe

SOURCE, TARGET, BLOCKS = 11, 7, 2
# The loss is computed in slices of this number of slots.
PREDICTED = 256
OWN = {"prefix": "own", "encoder": "own", "embeddings": "own", "chain": 0}
OTHER_SHAPE = {"initial": "random", "model": {"width": 48, "heads": 3, "encoder_layers": 2}}


def block(**changes: Any) -> DrafterConfig:
    return DrafterConfig(**{"feed_forward": 64, "chain": 16, "candidates": 3, "max_block": 4} | changes)


def heads(**changes: Any) -> HeadsConfig:
    return HeadsConfig(**{"feed_forward": 64, "max_block": 4} | changes)


def random_glancing(config: DrafterConfig) -> DrafterRecipe:
    return DrafterRecipe(drafter=config, glancing=(0.5, 0.5))


RECIPES = {
    "states": DrafterRecipe(drafter=block()),
    "states, copy": DrafterRecipe(drafter=block(chain=0, source_copy=True, layers=2)),
    "states, shortlist": DrafterRecipe(drafter=block(shortlist=16)),
    "states, recurrent": DrafterRecipe(drafter=block(recurrent=True)),
    "own prefix": DrafterRecipe(drafter=block(prefix="own")),
    "published": random_glancing(block(**OWN, attention="bidirectional", **OTHER_SHAPE)),
    "own, causal": random_glancing(block(**OWN)),
    "own, copy": DrafterRecipe(drafter=block(**OWN, source_copy=True)),
    "own layers and encoder": DrafterRecipe(drafter=block(prefix="own", encoder="own")),
    "heads": DrafterRecipe(drafter=heads()),
    "heads with a link": DrafterRecipe(drafter=heads(chain=16, start=True)),
    "heads, tuned": DrafterRecipe(drafter=heads(), verifier="fine-tuned"),
}


@pytest.mark.parametrize("name", RECIPES)
def test_an_update_of_a_drafter(name: str, make_bundle: Callable[..., Bundle]) -> None:
    recipe, model = RECIPES[name], make_bundle().verifier
    tuned, glancing = recipe.verifier == "fine-tuned", any(recipe.glancing)
    model.requires_grad_(tuned)
    objective = DrafterObjective(make_drafter(recipe.drafter, model), recipe)
    source, target = (torch.arange(5, 5 + length)[None] for length in (SOURCE, TARGET))
    arguments = (source, target, torch.tensor([[1, 3]]), torch.tensor(4), torch.tensor(max(recipe.glancing)))
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        objective(*arguments)[0].backward()
    one = DrafterUpdate(SOURCE, TARGET, BLOCKS, PREDICTED, glancing, tuned)
    # The verifier's own loss is computed in slices too.
    filled = 3 * 2 * model.config.width * model.config.vocabulary_size * (PREDICTED - TARGET) if tuned else 0
    assert counter.get_total_flops() == update_drafter(model.config, recipe.drafter, one) + filled
