"""Bundles of the same function at another size."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from specdec_cli.decoding.options import DecodingOptions, resolve
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.engines.reference import Engine
from specdec_cli.errors import ModelError, UsageError
from specdec_cli.model.bundle import Bundle, load_bundle, save_bundle
from specdec_cli.model.drafter import make_drafter
from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.opening.models import find_bundle
from tests.fakes import VOCABULARY, make_sentences, tiny_transformer
from tools.inflate import inflate, inflated_config, main

VARIANTS: dict[str, dict[str, Any]] = {
    "pre-norm": {},
    "sinusoids, scaled embeddings": {"positions": "sinusoidal", "embedding_scale": True},
    "post-norm": {"norm": "post"},
    "normalised embeddings, offset": {"embedding_norm": True, "embedding_scale": True, "position_offset": 2, "activation": "gelu"},
    "own output": {"tied_output": False},
    "two vocabularies": {"shared_embeddings": False, "source_vocabulary_size": 60},
    "two ends": {"order": "bidirectional"},
    "masked": {"order": "masked"},
}


def greedy(bundle: Bundle) -> dict[int, list[int]]:
    """Greedy tokens of 12 sentences in float32 by the reference engine."""
    sentences = make_sentences(12, vocabulary=40)
    decoding = resolve(DecodingOptions(decoding="greedy", batch_size=4), bundle)
    return {output.number: list(output.ids) for output in Engine(bundle, decoding).decode(sentences)}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("times", "inner", "layers"), [(2, 0, (3, 4)), (3, 5, (0, 0)), (1, 2, (1, 3))])
def test_logits_stay_the_same(variant: str, times: int, inner: int, layers: tuple[int, int]) -> None:
    model = tiny_transformer(3, **VARIANTS[variant])
    if model.config.norm == "post":
        layers = (0, 0)
    large = inflate(model, times, inner, *layers)
    assert large.config.width == 32 * times and large.config.heads == 2 * times and large.config.feed_forward == 64 * (inner or times)
    assert (len(large.encoder.layers), len(large.layers)) == (layers[0] or 1, layers[1] or 2)
    draw = torch.Generator().manual_seed(5)
    source, target = (torch.randint(5, 40, (6, 12), generator=draw) for _ in range(2))
    with torch.no_grad():
        expected, logits = model(source, target), large(source, target)
        assert logits.shape == (6, 12, VOCABULARY)
        torch.testing.assert_close(logits, expected, rtol=1e-4, atol=1e-4)
        if model.length_head is not None and large.length_head is not None:
            states, ends = model.encode(source).states, torch.full((6, 1), 12)
            torch.testing.assert_close(large.length_head(large.encode(source).states, ends), model.length_head(states, ends))


def test_tokens_in_float32_are_equal(bundle: Bundle) -> None:
    small = replace(bundle, verifier=tiny_transformer(4, ends=0.05))
    expected = greedy(small)
    assert len({tuple(ids) for ids in expected.values()}) > 6
    assert greedy(replace(small, verifier=inflate(small.verifier, 3, 4, 2, 3))) == expected


def test_a_shipped_bundle_at_twice_its_width_has_equal_tokens(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["en-de", str(tmp_path / "large"), "--decoder-layers", "6", "--storage", "float32"])
    assert "width 768, 12 heads, 3072 inner units, 6 + 6 layers" in capsys.readouterr().out
    small, large = load_bundle(find_bundle("en-de")), load_bundle(tmp_path / "large")
    assert large.drafter is None and large.info.decoding == "auto"
    lines = ["Good morning!", "Where did you put the keys that I gave you yesterday?"]
    outputs = []
    for bundle in (small, large):
        tokenizer = bundle.tokenizer
        engine = Engine(bundle, resolve(DecodingOptions(decoding="greedy"), bundle))
        sentences = [Sentence(place, tokenizer.add_special_tokens(tokenizer.encode(line))) for place, line in enumerate(lines)]
        outputs.append({output.number: tokenizer.decode(output.ids) for output in engine.decode(sentences)})
    assert outputs[0] == outputs[1] and outputs[0][0] == "Guten Morgen!"


def test_a_bundle_keeps_its_description_without_a_drafter(bundle: Bundle, tmp_path: Path) -> None:
    save_bundle(replace(bundle, info=replace(bundle.info, decoding="lookup", block_size=3)), tmp_path / "small")
    main([str(tmp_path / "small"), str(tmp_path / "large")])
    assert load_bundle(tmp_path / "large").info == load_bundle(tmp_path / "small").info
    drafted = load_bundle(tmp_path / "small")
    drafted.drafter = make_drafter(DrafterConfig(layers=1, feed_forward=32), drafted.verifier)
    save_bundle(drafted, tmp_path / "drafted")
    main([str(tmp_path / "drafted"), str(tmp_path / "without")])
    without = load_bundle(tmp_path / "without")
    assert without.drafter is None and without.info.decoding == "auto"


def test_sizes_that_a_model_cannot_have_are_refused(tmp_path: Path) -> None:
    config = tiny_transformer().config
    for sizes in ((0,), (-1,), (2, -1), (2, 0, 0, 1)):
        with pytest.raises(UsageError, match=r"1 or more|left out"):
            inflated_config(config, *sizes)
    with pytest.raises(UsageError, match=r"1 \+ 2 layers, and none can be left out"):
        inflated_config(config, 2, 0, 1, 1)
    with pytest.raises(ModelError, match="normalise the states again"):
        inflated_config(tiny_transformer(norm="post").config, 2, 0, 1, 3)
    with pytest.raises(ModelError, match="width"):
        inflated_config(config, 1000)
    with pytest.raises(SystemExit, match=r"error: en-de: the model has 6 \+ 4 layers"):
        main(["en-de", str(tmp_path / "large"), "--encoder-layers", "5"])
    with pytest.raises(SystemExit, match="no-such"):
        main(["no-such", str(tmp_path / "large")])
    assert not (tmp_path / "large").exists()
    with pytest.raises(SystemExit, match="exists already"):
        main(["en-de", str(tmp_path)])
