"""Heads: configuration, files, and computation."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from specdec_cli.errors import ModelError
from specdec_cli.model.bundle import Bundle, load_bundle, save_bundle
from specdec_cli.model.drafter import Heads
from specdec_cli.model.drafter_config import HeadsConfig, drafter_config
from specdec_cli.text.tokenize.sentencepiece import EOS, PADDING
from tests.fakes import tiny_drafter, tiny_heads, tiny_transformer
from tests.tables import tables

CASES = tables(__file__)


def test_saving_and_loading_restores_heads(bundle: Bundle, tmp_path: Path) -> None:
    heads = tiny_heads(bundle.verifier)
    save_bundle(replace(bundle, drafter=heads), tmp_path)
    loaded = load_bundle(tmp_path).drafter
    assert isinstance(loaded, Heads)
    assert (loaded.config, loaded.training) == (heads.config, False)
    top, last = torch.randn(3, bundle.verifier.config.width), torch.tensor([5, 6, 7])
    assert torch.equal(loaded.choose(loaded(top, 4), last), heads.choose(heads(top, 4), last))
    stored = sum(weight.numel() for weight in loaded.parameters())
    assert heads.config.fewest_weights(bundle.verifier.config) <= stored < 2 * heads.config.fewest_weights(bundle.verifier.config)


@pytest.mark.parametrize("made", [tiny_drafter, tiny_heads])
def test_a_configuration_has_the_kind_that_it_names(made: Any) -> None:
    config = made(tiny_transformer()).config
    assert drafter_config(config.to_dict()) == config
    assert drafter_config({"layers": 2}).kind == "block"


@pytest.mark.parametrize(("changes", "words"), CASES.damaged_files_of_heads_are_named)
def test_damaged_files_of_heads_are_named(changes: dict[str, Any], words: str, bundle: Bundle, tmp_path: Path) -> None:
    save_bundle(replace(bundle, drafter=tiny_heads(bundle.verifier)), tmp_path)
    file = tmp_path / "drafter" / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text(encoding="utf-8")) | changes), encoding="utf-8")
    with pytest.raises(ModelError, match=words) as caught:
        load_bundle(tmp_path)
    assert str(caught.value).startswith(str(tmp_path / "drafter"))


@torch.no_grad()
def test_a_head_is_a_feed_forward_layer_with_a_residual_connection() -> None:
    heads, top = tiny_heads(tiny_transformer(), chain=0), torch.randn(2, 5, 32)
    for slot in range(3):
        names = ("inner.weight", "inner.bias", "outer.weight", "outer.bias")
        inner, inner_bias, outer, outer_bias = (heads.get_parameter(f"heads.{slot}.{name}") for name in names)
        expected = top + (top @ inner.T + inner_bias).clamp_min(0) @ outer.T + outer_bias
        assert torch.allclose(heads(top, 3)[:, :, slot], expected, atol=1e-5)
    assert heads(top, 3).shape == (2, 5, 3, 32)


@torch.no_grad()
def test_the_first_draft_reads_the_first_and_the_mean_state_of_the_source() -> None:
    heads = tiny_heads(tiny_transformer(), start=True)
    memory = heads.verifier.encode(torch.tensor([[7, 8, 9, EOS], [7, 8, EOS, PADDING]]))
    assert heads.start is not None
    means = torch.stack([memory.states[0].mean(0), memory.states[1, :3].mean(0)])
    expected = heads.start(torch.cat([memory.states[:, 0], means], dim=1))
    assert torch.allclose(heads.first_states(memory), expected, atol=1e-6)
    assert not tiny_heads(heads.verifier).first_states(memory).any()


def test_heads_are_initialised_from_others_of_equal_shape() -> None:
    model = tiny_transformer()
    first, more = tiny_heads(model), tiny_heads(model, seed=1, max_block=7)
    more.initialize_from(first)
    assert all(torch.equal(more.state_dict()[name], value) for name, value in first.state_dict().items())
    with pytest.raises(ModelError, match=r"heads\.0\.inner\.weight"):
        Heads(HeadsConfig(feed_forward=48, chain=8), model).initialize_from(first)
