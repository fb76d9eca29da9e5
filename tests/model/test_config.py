"""Configurations of models, and errors for inconsistent ones."""

from dataclasses import replace
from typing import Any

import pytest

from specdec_cli.errors import ModelError
from specdec_cli.model.config import PRESETS, TransformerConfig, preset
from specdec_cli.model.drafter_config import DrafterConfig
from tests.tables import tables

CASES = tables(__file__)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_restored_from_its_dictionary(name: str) -> None:
    config = preset(name, 8000, max_positions=64)
    assert (config.vocabulary_size, config.max_positions) == (8000, 64)
    assert TransformerConfig.from_dict(config.to_dict()) == config == replace(PRESETS[name], vocabulary_size=8000, max_positions=64)


def test_a_drafters_configuration_is_restored_from_its_dictionary() -> None:
    config = DrafterConfig(prefix="own", layers=3, layout="unshifted", chain=0)
    assert DrafterConfig.from_dict(config.to_dict()) == config


@pytest.mark.parametrize(("changes", "words"), CASES.inconsistent_transformers_are_refused)
def test_inconsistent_transformers_are_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelError, match=words):
        TransformerConfig.from_dict({"vocabulary_size": 100} | changes)


def test_a_missing_key_is_named() -> None:
    with pytest.raises(ModelError, match="vocabulary_size"):
        TransformerConfig.from_dict({"width": 32})


def test_an_unknown_preset_is_named_with_the_known_ones() -> None:
    with pytest.raises(ModelError, match="'huge'; known are base, big, deep-shallow, small, t5"):
        preset("huge", 100)


@pytest.mark.parametrize(("changes", "words"), CASES.inconsistent_drafters_are_refused)
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
