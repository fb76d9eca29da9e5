"""Bundles converted to CTranslate2 give the output of specdec."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ctranslate2
import pytest
import torch
from torch import nn

from converters.to_ctranslate2 import to_ctranslate2
from specdec_cli.errors import ModelError, UsageError
from specdec_cli.model.bundle import Bundle
from specdec_cli.text.tokenize.sentencepiece import EOS

LONGEST = 20

T5: dict[str, Any] = {
    "positions": "relative",
    "reach": 3,
    "norm_kind": "rms",
    "norm_epsilon": 1e-6,
    "biases": False,
    "embedding_scale": False,
    "attention_scale": False,
    "encoder_layers": 2,
    "decoder_layers": 2,
}
VARIANTS: list[dict[str, Any]] = [
    {},
    {"norm": "post", "activation": "gelu", "embedding_scale": False, "embedding_norm": True, "positions": "learned", "position_offset": 2},
    {"activation": "silu", "position_offset": 2, "shared_embeddings": False, "output_bias": True, "encoder_layers": 2, "decoder_layers": 1},
    {"norm": "post", "tied_output": False, "shared_embeddings": False, "decoder_start": EOS, "width": 64, "heads": 4},
    {"positions": "learned", "embedding_norm": True, "tied_output": False, "output_bias": True, "activation": "gelu"},
    {"gated": True, "activation": "gelu-tanh", "positions": "learned", "embedding_norm": True, "tied_output": False},
    {"norm": "post", "gated": True, "activation": "silu", "attention_width": 96, "biases": False},
    T5,
    T5 | {"gated": True, "activation": "gelu-tanh", "tied_output": False, "attention_width": 96},
    T5 | {"gated": True, "activation": "gelu-tanh", "tied_output": False, "layer_biases": True, "reach": 9},
]


def greedy(bundle: Bundle, ids: list[int]) -> list[int]:
    """Greedy decoding without a cache; returns the ids, with EOS if it was emitted."""
    config = bundle.verifier.config
    source = torch.tensor([[*ids, config.eos]])
    target = [config.decoder_start]
    with torch.no_grad():
        while len(target) <= LONGEST and (len(target) == 1 or target[-1] != config.eos):
            target.append(int(bundle.verifier(source, torch.tensor([target]))[0, -1].argmax()))
    return target[1:]


def greedy_by_ctranslate2(folder: Path, sources: list[list[str]]) -> list[list[str]]:
    translator = ctranslate2.Translator(str(folder), inter_threads=1, intra_threads=1)  # type: ignore[attr-defined]
    results = translator.translate_batch(
        sources, beam_size=1, min_decoding_length=0, max_decoding_length=LONGEST, max_input_length=0, return_end_token=True
    )
    return [result.hypotheses[0] for result in results]


@pytest.mark.parametrize("changes", VARIANTS, ids=lambda changes: "-".join(changes) or "default")
def test_greedy_output_of_ctranslate2_equals_ours(
    changes: dict[str, Any], make_bundle: Callable[..., Bundle], lines: list[str], tmp_path: Path
) -> None:
    bundle = make_bundle(**changes)
    for bias in filter(None, (bundle.verifier.encoder.bias, bundle.verifier.bias)):
        nn.init.normal_(bias.weight, std=2)
    to_ctranslate2(bundle, tmp_path / "model")

    ids = [bundle.tokenizer.encode(line) for line in lines]
    theirs = greedy_by_ctranslate2(tmp_path / "model", [bundle.tokenizer.pieces(line) for line in ids])

    assert theirs == [bundle.tokenizer.pieces(greedy(bundle, line)) for line in ids]
    assert len({tuple(output) for output in theirs}) > 3, "outputs that do not depend on the source prove nothing"


def test_outputs_end_at_the_same_token(bundle: Bundle, ctranslate2_folder: Path, lines: list[str]) -> None:
    ids = [bundle.tokenizer.encode(line) for line in lines]
    theirs = greedy_by_ctranslate2(ctranslate2_folder, [bundle.tokenizer.pieces(line) for line in ids])

    assert theirs == [bundle.tokenizer.pieces(greedy(bundle, line)) for line in ids]
    assert len({len(output) for output in theirs}) > 5


def test_an_output_may_be_empty(make_bundle: Callable[..., Bundle], tmp_path: Path) -> None:
    bundle = make_bundle(output_bias=True)
    with torch.no_grad():
        bundle.verifier.output.bias[EOS] = 100.0
    to_ctranslate2(bundle, tmp_path / "model")

    assert greedy_by_ctranslate2(tmp_path / "model", [["▁ka"]]) == [["</s>"]]


def test_the_folder_has_all_files(make_bundle: Callable[..., Bundle], tmp_path: Path) -> None:
    bundle = make_bundle()
    to_ctranslate2(bundle, tmp_path / "model")

    bundle.tokenizer.save(tmp_path / "saved")
    assert (tmp_path / "model" / "tokenizer.model").read_bytes() == (tmp_path / "saved" / "tokenizer.model").read_bytes()
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    assert (config["decoder_start_token"], config["eos_token"], config["add_source_eos"]) == ("<s>", "</s>", True)
    assert config["max_positions"] == 64
    assert json.loads((tmp_path / "model" / "shared_vocabulary.json").read_text()) == bundle.tokenizer.vocabulary()
    assert {path.name for path in tmp_path.iterdir()} == {"model", "saved"}


def test_quantization_does_not_change_the_bundle(make_bundle: Callable[..., Bundle], tmp_path: Path) -> None:
    bundle = make_bundle()
    before = {name: value.clone() for name, value in bundle.verifier.state_dict().items()}
    to_ctranslate2(bundle, tmp_path / "int8", quantization="int8")
    to_ctranslate2(bundle, tmp_path / "float32")

    assert all(torch.equal(before[name], value) for name, value in bundle.verifier.state_dict().items())
    assert (tmp_path / "int8" / "model.bin").stat().st_size < (tmp_path / "float32" / "model.bin").stat().st_size / 2


def test_all_problems_are_named_together(make_bundle: Callable[..., Bundle], tmp_path: Path) -> None:
    bundle = make_bundle()
    for name, value in (("activation", "tanh"), ("norm", "sandwich"), ("order", "right-to-left"), ("vocabulary_size", 7)):
        object.__setattr__(bundle.verifier.config, name, value)

    with pytest.raises(ModelError, match=r"norm 'sandwich'.*activation 'tanh'.*order 'right-to-left'.*vocabulary of 7"):
        to_ctranslate2(bundle, tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_an_existing_folder_requires_force(make_bundle: Callable[..., Bundle], tmp_path: Path) -> None:
    bundle = make_bundle()
    to_ctranslate2(bundle, tmp_path / "model")
    with pytest.raises(UsageError, match="exists already"):
        to_ctranslate2(bundle, tmp_path / "model")

    (tmp_path / "model" / "left-over").touch()
    to_ctranslate2(bundle, tmp_path / "model", force=True)
    assert not (tmp_path / "model" / "left-over").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_force_replaces_only_ctranslate2_folders(make_bundle: Callable[..., Bundle], tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(UsageError, match=r"has no model\.bin"):
        to_ctranslate2(make_bundle(), tmp_path, force=True)
    assert (tmp_path / "thesis.txt").exists()


def test_an_unknown_quantization_is_refused(make_bundle: Callable[..., Bundle], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--quantization int3: not known"):
        to_ctranslate2(make_bundle(), tmp_path / "model", quantization="int3")
