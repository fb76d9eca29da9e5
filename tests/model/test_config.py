"""Configurations of models, and errors for inconsistent ones."""

from dataclasses import replace
from typing import Any

import pytest

from specdec_cli.errors import ModelError
from specdec_cli.model.config import PRESETS, TransformerConfig, preset
from specdec_cli.model.drafter_config import DrafterConfig


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_restored_from_its_dictionary(name: str) -> None:
    config = preset(name, 8000, max_positions=64)
    assert (config.vocabulary_size, config.max_positions) == (8000, 64)
    assert TransformerConfig.from_dict(config.to_dict()) == config == replace(PRESETS[name], vocabulary_size=8000, max_positions=64)


def test_a_drafters_configuration_is_restored_from_its_dictionary() -> None:
    config = DrafterConfig(prefix="own", layers=3, layout="unshifted", chain=0)
    assert DrafterConfig.from_dict(config.to_dict()) == config


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"width": 40}, "width 40 .* multiples of 16"),
        ({"feed_forward": 100}, "feed_forward 100 .* multiples of 16"),
        ({"width": 48, "heads": 5}, "a multiple of 5 heads"),
        ({"heads": 0}, "heads must be an integer from 1 to 1024, not 0"),
        ({"norm": "middle"}, "norm must be pre or post, not 'middle'"),
        ({"activation": "swish"}, "activation must be relu or gelu or gelu-tanh or silu, not 'swish'"),
        ({"order": "middle-out"}, "order must be left-to-right or right-to-left or double-left-to-right or"),
        ({"order": "masked", "positions": "relative"}, "order masked needs learned or sinusoidal positions, not relative"),
        ({"attention_width": 72, "heads": 8}, "and attention_width 72 a multiple of 16 and of 8 heads"),
        ({"norm_epsilon": 0.0}, "norm_epsilon must be a number from 1e-12 to 0.01, not 0.0"),
        ({"order": "bidirectional"}, "order bidirectional needs learned positions, not sinusoidal"),
        ({"order": "double-right-to-left", "max_positions": 63}, "max_positions 63 must be a multiple of 2"),
        ({"positions": "rotary"}, "positions must be sinusoidal or learned or relative, not 'rotary'"),
        ({"width": 0}, "width must be an integer from 16 to"),
        ({"feed_forward": -16}, "feed_forward must be an integer from 16 to"),
        ({"max_positions": 0}, "max_positions must be an integer from 16 to"),
        ({"decoder_layers": 1_000_000}, "decoder_layers must be an integer from 1 to 1024, not 1000000"),
        ({"decoder_start": 100}, "decoder_start is 100, but the vocabulary has 100 tokens"),
        ({"eos": -1}, "eos must be an integer from 0"),
        ({"padding": 60, "source_vocabulary_size": 50, "shared_embeddings": False}, "padding is 60, but the vocabulary has 50 tokens"),
        ({"heads": 8.0}, "heads must be an integer"),
        ({"depth": 6}, "unknown key 'depth'; known are .*decoder_layers"),
    ],
)
def test_inconsistent_transformers_are_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelError, match=words):
        TransformerConfig.from_dict({"vocabulary_size": 100} | changes)


def test_a_missing_key_is_named() -> None:
    with pytest.raises(ModelError, match="vocabulary_size"):
        TransformerConfig.from_dict({"width": 32})


def test_an_unknown_preset_is_named_with_the_known_ones() -> None:
    with pytest.raises(ModelError, match="'huge'; known are base, big, deep-shallow, small, t5"):
        preset("huge", 100)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"prefix": "none"}, "prefix must be states or own, not 'none'"),
        ({"layout": "left"}, "layout must be shifted or unshifted, not 'left'"),
        ({"encoder": "no"}, "encoder must be shared or own, not 'no'"),
        ({"layers": 0}, "layers must be an integer from 1"),
        ({"max_block": 0}, "max_block must be an integer from 1"),
        ({"layout": "unshifted"}, "needs prefix"),
        ({"glancing": 1}, "unknown key 'glancing'"),
        ({"attention": "bidirectional"}, 'needs prefix "own"'),
        ({"copy_mode": "replace"}, "needs source_copy"),
        ({"model": 3}, "model must be an object whose values are .*, not 3"),
        ({"model": {"depth": 3}}, "model: unknown key 'depth'; known are width, heads"),
        ({"model": {"vocabulary_size": 3}}, "model: unknown key 'vocabulary_size'"),
        ({"model": {"width": 64}}, 'embeddings "own", encoder "own" and initial "random"'),
        ({"model": {"width": 64}, "embeddings": "own", "encoder": "own"}, 'initial "random"'),
    ],
)
def test_inconsistent_drafters_are_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelError, match=words):
        DrafterConfig.from_dict(changes)


def test_a_drafters_shape_is_the_verifiers_with_changes() -> None:
    own = {"embeddings": "own", "encoder": "own", "initial": "random"}
    config = DrafterConfig.from_dict(own | {"layers": 3, "feed_forward": 4096, "model": {"width": 1024, "heads": 16, "norm": "post"}})
    base = replace(PRESETS["base"], max_positions=100, eos=7)
    big = replace(base, width=1024, heads=16, norm="post", feed_forward=4096, decoder_layers=3)
    assert config.shape(base) == big
    assert DrafterConfig(feed_forward=1536).shape(base) == replace(base, decoder_layers=1, feed_forward=1536)
    assert DrafterConfig().shape(base) == replace(base, decoder_layers=1)


@pytest.mark.parametrize(
    ("model", "words"),
    [({"width": 40}, "width 40 .* multiples of 16"), ({"heads": "8"}, "heads must be an integer from 1 to 1024, not '8'")],
)
def test_inconsistent_sizes_of_a_drafter_are_named(model: dict[str, Any], words: str) -> None:
    config = DrafterConfig(embeddings="own", encoder="own", initial="random", model=model)
    with pytest.raises(ModelError, match=words):
        config.shape(PRESETS["base"])


@pytest.mark.parametrize(
    ("prefix", "encoder", "reads"), [("states", "own", "states"), ("own", "shared", "encoder"), ("own", "own", "nothing")]
)
def test_the_configuration_says_what_a_drafter_reads(prefix: Any, encoder: Any, reads: str) -> None:
    assert DrafterConfig(prefix=prefix, encoder=encoder).reads == reads


def test_padding_is_another_token_than_eos() -> None:
    with pytest.raises(ModelError, match="padding and eos are the same token, 3"):
        TransformerConfig(48, padding=3, eos=3)
