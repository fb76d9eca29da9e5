"""The count of floating-point operations that `train-drafter` prints."""

from collections.abc import Callable

import pytest

from specdec_cli.model.bundle import Bundle
from specdec_cli.model.drafter import make_drafter
from specdec_cli.model.drafter_config import DrafterConfig, HeadsConfig
from specdec_cli.model.flops import DrafterUpdate, update_drafter
from specdec_cli.training import drafter as drafter_training
from specdec_cli.training.data import SentencePair
from specdec_cli.training.drafter import operations_a_sentence
from specdec_cli.training.recipe import DrafterRecipe

BLOCK = DrafterConfig(feed_forward=64, max_block=4, chain=16)
SHORT, LONG = SentencePair([5, 6, 3], [3]), SentencePair([5, 6, 7, 3], [5, 6, 7, 8, 9, 3])


def test_a_target_of_one_token_has_one_block_of_one_slot(make_bundle: Callable[..., Bundle]) -> None:
    model, recipe = make_bundle().verifier, DrafterRecipe(drafter=BLOCK, glancing=(0.5, 0.3))
    one = DrafterUpdate(source=3, target=1, blocks=1, predicted=1, glancing=True)
    assert operations_a_sentence(make_drafter(BLOCK, model), recipe, [SHORT] * 3) == update_drafter(model.config, BLOCK, one)


@pytest.mark.parametrize("start", [False, True])
def test_heads_without_a_start_are_not_trained_before_the_first_token(start: bool, make_bundle: Callable[..., Bundle]) -> None:
    model, config = make_bundle().verifier, HeadsConfig(feed_forward=64, start=start)
    one = DrafterUpdate(source=3, target=1, blocks=int(start), predicted=int(start))
    counted = operations_a_sentence(make_drafter(config, model), DrafterRecipe(drafter=config), [SHORT])
    assert counted == update_drafter(model.config, config, one)


def test_all_slots_count_with_a_fixed_block_size_and_a_sample_stands_for_all(
    make_bundle: Callable[..., Bundle], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, recipe = make_bundle().verifier, DrafterRecipe(drafter=BLOCK, cuts=1, vary_block=False)
    fewest, most = (update_drafter(model.config, BLOCK, DrafterUpdate(4, 6, 1, predicted)) for predicted in (1, 4))
    network = make_drafter(BLOCK, model)
    assert fewest < operations_a_sentence(network, recipe, [LONG] * 50) <= most
    monkeypatch.setattr(drafter_training, "SAMPLE", 2)
    assert operations_a_sentence(network, recipe, [SHORT, LONG] * 2) == operations_a_sentence(network, recipe, [SHORT, SHORT])
