"""Shapes of models: what fits together, and what is said where it does not."""

from dataclasses import replace
from typing import Any

import pytest

from specdec_cli.errors import ModelError
from specdec_cli.model.config import PRESETS, TransformerConfig, preset
from specdec_cli.model.drafter import DrafterConfig


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_comes_back_from_its_dictionary(name: str) -> None:
    config = preset(name, 8000, max_positions=64)
    assert (config.vocabulary_size, config.max_positions) == (8000, 64)
    assert TransformerConfig.from_dict(config.to_dict()) == config == replace(PRESETS[name], vocabulary_size=8000, max_positions=64)


def test_a_drafters_configuration_comes_back_from_its_dictionary() -> None:
    config = DrafterConfig(prefix="own", layers=3, layout="unshifted", chain=0)
    assert DrafterConfig.from_dict(config.to_dict()) == config


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"width": 40}, "width 40 .* multiples of 16"),
        ({"feed_forward": 100}, "feed_forward 100 .* multiples of 16"),
        ({"width": 48, "heads": 5}, "a multiple of 5 heads"),
        ({"heads": 0}, "0 heads"),
        ({"norm": "middle"}, "norm is pre or post, not 'middle'"),
        ({"activation": "swish"}, "activation is relu or gelu or silu, not 'swish'"),
        ({"positions": "rotary"}, "positions is sinusoidal or learned, not 'rotary'"),
        ({"depth": 6}, "unknown key 'depth'; known are .*decoder_layers"),
    ],
)
def test_what_no_transformer_can_be_is_an_error(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelError, match=words):
        TransformerConfig.from_dict({"vocabulary_size": 100} | changes)


def test_a_missing_key_is_named() -> None:
    with pytest.raises(ModelError, match="vocabulary_size"):
        TransformerConfig.from_dict({"width": 32})


def test_an_unknown_preset_is_named_with_the_known() -> None:
    with pytest.raises(ModelError, match="'huge'; known are base, big, deep-shallow, small"):
        preset("huge", 100)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"prefix": "none"}, "prefix is states or own, not 'none'"),
        ({"layout": "left"}, "layout is shifted or unshifted, not 'left'"),
        ({"encoder": "no"}, "encoder is shared or own, not 'no'"),
        ({"layers": 0}, "at least one layer"),
        ({"max_block": 0}, "at least one token"),
        ({"layout": "unshifted"}, "layers of its own"),
        ({"glancing": 1}, "unknown key 'glancing'"),
    ],
)
def test_what_no_drafter_can_be_is_an_error(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelError, match=words):
        DrafterConfig.from_dict(changes)
