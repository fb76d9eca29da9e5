"""A trained Transformer with more or fewer layers."""

from dataclasses import replace

import pytest
import torch

from specdec_cli.errors import ModelError, UsageError
from specdec_cli.model.bundle import Bundle
from specdec_cli.model.config import preset
from specdec_cli.training.initial import changed_depth, check_preset, initial_verifier, with_depth
from specdec_cli.training.recipe import VerifierRecipe
from tests.fakes import RELATIVE, RELATIVE_SHAPE, tiny_transformer


def test_new_layers_are_initially_the_identity(bundle: Bundle) -> None:
    first = bundle.verifier.eval()
    config = replace(first.config, encoder_layers=first.config.encoder_layers + 2, decoder_layers=first.config.decoder_layers + 3)
    deeper = with_depth(first, config, dropout=0.0).eval()
    source, target = torch.tensor([[7, 9, 11, 3]]), torch.tensor([[2, 8, 6]])
    assert (len(deeper.encoder.layers), len(deeper.layers)) == (config.encoder_layers, config.decoder_layers)
    torch.testing.assert_close(deeper(source, target), first(source, target))


@pytest.mark.parametrize("kind", RELATIVE)
def test_new_layers_have_the_relative_positions_of_the_last_one(kind: str) -> None:
    first = tiny_transformer(**RELATIVE_SHAPE | RELATIVE[kind])
    config = replace(first.config, encoder_layers=first.config.encoder_layers + 2, decoder_layers=first.config.decoder_layers + 1)
    deeper = with_depth(first, config, dropout=0.0).eval()
    source, target = torch.tensor([[7, 9, 11, 3]]), torch.tensor([[2, 8, 6]])
    torch.testing.assert_close(deeper(source, target), first(source, target))
    shallower = with_depth(deeper, first.config, dropout=0.0)
    assert all(torch.equal(value, first.state_dict()[name]) for name, value in shallower.state_dict().items())


def test_new_layers_learn(bundle: Bundle) -> None:
    first = bundle.verifier
    deeper = with_depth(first, replace(first.config, decoder_layers=first.config.decoder_layers + 1), dropout=0.0)
    deeper(torch.tensor([[7, 9, 3]]), torch.tensor([[2, 8]])).logsumexp(-1).sum().backward()
    gradient = dict(deeper.named_parameters())[f"layers.{len(first.layers)}.feed_forward.outer.weight"].grad
    assert gradient is not None
    assert gradient.abs().sum() > 0


def test_fewer_layers_are_the_first_ones(bundle: Bundle) -> None:
    first = bundle.verifier
    shallower = with_depth(first, replace(first.config, decoder_layers=1), dropout=0.0)
    assert all(torch.equal(value, first.state_dict()[name]) for name, value in shallower.state_dict().items())


def test_the_decoder_can_begin_with_random_weights(bundle: Bundle) -> None:
    first = bundle.verifier.state_dict()
    made = initial_verifier(VerifierRecipe(decoder="random"), bundle, bundle.tokenizer).state_dict()
    changed = {name for name, value in made.items() if not torch.equal(value, first[name])}
    assert changed and all(name.startswith("layers.") for name in changed)
    assert {f"layers.{place}.feed_forward.inner.weight" for place in range(bundle.verifier.config.decoder_layers)} <= changed


def test_only_numbers_of_layers_can_change(bundle: Bundle) -> None:
    config = bundle.verifier.config
    assert changed_depth(config, {"decoder_layers": 5, "width": config.width}) == replace(config, decoder_layers=5)
    with pytest.raises(UsageError, match=f"width {config.width}, not {2 * config.width};"):
        changed_depth(config, {"width": 2 * config.width, "decoder_layers": 5})
    with pytest.raises(UsageError, match=f"the initial model has heads {config.heads}, not 7;"):
        changed_depth(config, {"heads": 7})
    with pytest.raises(ModelError, match="'depth'"):
        changed_depth(config, {"depth": 5})


def test_a_preset_must_match_the_initial_model() -> None:
    config = preset("small", 320, encoder_layers=12, max_positions=512)
    check_preset(config, "small", {"encoder_layers": 3})
    with pytest.raises(UsageError, match=r"preset small .* \(encoder_layers 12, not 6\)"):
        check_preset(config, "small", {"decoder_layers": 2})
    with pytest.raises(UsageError, match="width 384, not 512, feed_forward 1536, not 2048, heads 6, not 8, encoder_layers 12, not 6"):
        check_preset(config, "base", {"decoder_layers": 2})
    with pytest.raises(ModelError, match="unknown preset 'huge'"):
        check_preset(config, "huge", {})
