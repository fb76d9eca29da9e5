"""Bundles on disk: saving and loading, sizes of files, modes of correction, and errors for damaged bundles."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from specdec_cli.errors import ModelError
from specdec_cli.files import write_atomically
from specdec_cli.model.bundle import Bundle, load_bundle, read_info, save_bundle
from specdec_cli.text.tokenize.sentencepiece import Subwords
from tests.fakes import DRAFTERS, tiny_drafter, tiny_transformer


@pytest.fixture(scope="module")
def whole(bundle: Bundle) -> Bundle:
    """A bundle with a drafter and a full description."""
    info = replace(bundle.info, task="correct", decoding="specdec", block_size=4, licence="CC0")
    return replace(bundle, info=info, drafter=tiny_drafter(bundle.verifier))


@pytest.fixture(scope="module")
def saved(whole: Bundle, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of `whole`."""
    folder = tmp_path_factory.mktemp("saved") / "bundle"
    save_bundle(whole, folder)
    return folder


@pytest.fixture
def copy(saved: Path, tmp_path: Path) -> Path:
    """A copy of the folder that a test may damage."""
    return Path(shutil.copytree(saved, tmp_path / "bundle"))


def same(first: nn.Module | None, second: nn.Module | None) -> bool:
    """Whether all tensors are bit-identical."""
    assert first is not None
    assert second is not None
    pairs = zip(first.state_dict().items(), second.state_dict().items(), strict=True)
    return all(name == other and torch.equal(value, twin) for (name, value), (other, twin) in pairs)


def test_saving_and_loading_restores_a_bundle(whole: Bundle, saved: Path) -> None:
    loaded = load_bundle(saved)
    assert loaded.info == whole.info == read_info(saved)
    assert loaded.verifier.config == whole.verifier.config
    assert loaded.drafter is not None
    assert whole.drafter is not None
    assert loaded.drafter.config == whole.drafter.config
    assert loaded.drafter.verifier is loaded.verifier
    assert same(loaded.verifier, whole.verifier)
    assert same(loaded.drafter, whole.drafter)
    assert not loaded.verifier.training
    assert not loaded.drafter.training
    assert loaded.tokenizer.encode("ka lo mi") == whole.tokenizer.encode("ka lo mi")


@pytest.mark.parametrize("kind", DRAFTERS)
def test_saving_and_loading_restores_every_kind_of_drafter(bundle: Bundle, kind: str, tmp_path: Path) -> None:
    drafting = replace(bundle, drafter=tiny_drafter(bundle.verifier, **DRAFTERS[kind]))
    save_bundle(drafting, tmp_path)
    assert same(load_bundle(tmp_path).drafter, drafting.drafter)


@pytest.mark.parametrize(
    "changes", [{}, {"tied_output": False}, {"tied_output": False, "shared_embeddings": False}, {"positions": "sinusoidal"}]
)
def test_tied_weights_are_stored_once_and_tied_again(tokenizer: Subwords, bundle: Bundle, changes: dict[str, Any], tmp_path: Path) -> None:
    model = tiny_transformer(vocabulary_size=len(tokenizer), **changes)
    save_bundle(replace(bundle, verifier=model), tmp_path)
    stored = load_file(tmp_path / "verifier" / "model.safetensors")
    large = [name for name, value in stored.items() if value.shape == (len(tokenizer), 32)]
    assert len(large) == 1 + list(changes.values()).count(False)
    loaded = load_bundle(tmp_path).verifier
    assert same(loaded, model)
    assert len({id(weight) for weight in loaded.parameters()}) == len({id(weight) for weight in model.parameters()})
    assert all(torch.equal(value, twin) for value, twin in zip(loaded.buffers(), model.buffers(), strict=True))


def test_loading_draws_no_random_numbers(saved: Path) -> None:
    before = torch.get_rng_state()
    load_bundle(saved)
    assert torch.equal(torch.get_rng_state(), before)


def test_float32_weights_are_memory_mapped(saved: Path) -> None:
    maps = Path("/proc/self/maps")
    if not maps.exists():
        pytest.skip("this system does not tell what is mapped")
    loaded = load_bundle(saved)
    address = loaded.verifier.output.weight.data_ptr()
    lines = maps.read_text(encoding="utf-8").splitlines()
    mapped = [line.split()[0].split("-") for line in lines if line.endswith(str(saved / "verifier" / "model.safetensors"))]
    assert any(int(start, 16) <= address < int(end, 16) for start, end in mapped)


def test_the_drafters_file_has_no_weights_of_the_verifier(saved: Path, bundle: Bundle) -> None:
    stored = load_file(saved / "drafter" / "model.safetensors")
    assert not any(len(value) == bundle.verifier.config.vocabulary_size for value in stored.values())


def test_half_precision_rounds_each_weight(whole: Bundle, tmp_path: Path) -> None:
    save_bundle(whole, tmp_path, "float16")
    loaded, original = load_bundle(tmp_path).verifier.state_dict(), whole.verifier.state_dict()
    assert all(torch.equal(loaded[name], value.half().float()) for name, value in original.items())


@pytest.mark.parametrize("factor", [1.0, 1e-4])
def test_int8_weights_are_within_half_a_step(whole: Bundle, factor: float, tmp_path: Path) -> None:
    model = tiny_transformer(vocabulary_size=len(whole.tokenizer))
    with torch.no_grad():
        model.layers[0].feed_forward.inner.weight.mul_(factor)  # type: ignore[union-attr, operator]
        model.output.weight[7] = 0.0
    save_bundle(replace(whole, verifier=model, drafter=None), tmp_path, "int8")
    loaded = load_bundle(tmp_path).verifier.state_dict()
    for name, value in model.state_dict().items():
        step = value.abs().amax(1, keepdim=True) / 127 if value.dim() == 2 else torch.zeros(1)
        assert bool(((loaded[name] - value).abs() <= 0.5001 * step).all()), name


def test_int8_weights_take_a_quarter_of_the_space(saved: Path, whole: Bundle, tmp_path: Path) -> None:
    save_bundle(whole, tmp_path, "int8")
    small, large = ((folder / "verifier" / "model.safetensors").stat().st_size for folder in (tmp_path, saved))
    assert small < 0.5 * large  # scales, vectors and the header are a large part of so small a model


def test_a_bundle_may_be_saved_to_its_own_folder(copy: Path) -> None:
    loaded = load_bundle(copy)
    with torch.no_grad():
        loaded.verifier.output.bias.add_(1.0)
    save_bundle(loaded, copy)
    assert same(load_bundle(copy).verifier, loaded.verifier)
    assert not list(copy.rglob("*.partial"))


def test_a_failed_write_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")

    def fail(partial: Path) -> None:
        partial.write_text("half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, fail)
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("file", "old")]


Damage = Callable[[Path], object]


def remove(name: str) -> Damage:
    return lambda folder: (folder / name).unlink()


def write(name: str, text: str) -> Damage:
    return lambda folder: (folder / name).write_text(text)


def edit(name: str, **changes: Any) -> Damage:
    """Change values of a JSON file; None removes a key."""

    def change(folder: Path) -> None:
        values = json.loads((folder / name).read_text()) | changes
        (folder / name).write_text(json.dumps({key: value for key, value in values.items() if value is not None}))

    return change


def tensors(name: str, change: Callable[[dict[str, Tensor]], object]) -> Damage:
    def rewrite(folder: Path) -> None:
        stored = load_file(folder / name)
        change(stored)
        save_file(stored, folder / name)

    return rewrite


def cut_short(folder: Path) -> None:
    path = folder / "verifier" / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


VERIFIER, DRAFTER = "verifier/model.safetensors", "drafter/model.safetensors"


@pytest.mark.parametrize(
    ("damage", "file", "words"),
    [
        (remove("bundle.json"), "bundle.json", "not readable as JSON"),
        (write("bundle.json", "{"), "bundle.json", "not readable as JSON"),
        (write("bundle.json", "[1]"), "bundle.json", "expected an object"),
        (edit("bundle.json", format=2), "bundle.json", "not of format 1"),
        (edit("bundle.json", format=None), "bundle.json", "not of format 1"),
        (edit("bundle.json", colour="red"), "bundle.json", "unknown key 'colour'"),
        (remove("tokenizer.model"), "tokenizer.model", "no such file"),
        (write("tokenizer.model", "no"), "tokenizer.model", "not a SentencePiece model"),
        (remove("verifier/config.json"), "verifier/config.json", "not readable as JSON"),
        (edit("verifier/config.json", depth=3), "verifier/config.json", "unknown key 'depth'"),
        (edit("verifier/config.json", vocabulary_size=None), "verifier/config.json", "vocabulary_size"),
        (edit("verifier/config.json", vocabulary_size=100), "tokenizer.model", "320 pieces, but .*verifier/config.json says 100"),
        (edit("verifier/config.json", activation="swish"), "verifier/config.json", "'swish'"),
        (edit("verifier/config.json", feed_forward=32), VERIFIER, r"'[a-z_.0-9]+' is \(.*\), the configuration requires \(.*\)"),
        (edit("verifier/config.json", decoder_layers=3), VERIFIER, "lacks 'layers.2"),
        (edit("verifier/config.json", output_bias=False), VERIFIER, "holds 'output.bias', which the configuration"),
        (remove(VERIFIER), VERIFIER, "not readable as safetensors"),
        (write(VERIFIER, "nonsense, but long enough for a header"), VERIFIER, "not readable as safetensors"),
        (cut_short, VERIFIER, "not readable as safetensors"),
        (tensors(VERIFIER, lambda t: t.pop("output.bias")), VERIFIER, "lacks 'output.bias'"),
        (tensors(VERIFIER, lambda t: t.update(more=torch.zeros(2))), VERIFIER, "holds 'more'"),
        (tensors(VERIFIER, lambda t: t.update({"output.bias": torch.zeros(9)})), VERIFIER, r"'output.bias' is \(9,\), .* \(320,\)"),
        (edit("drafter/config.json", prefix="none"), "drafter/config.json", "'none'"),
        (edit("drafter/config.json", max_block=9), DRAFTER, r"'slots' is \(6, 32\), .* \(9, 32\)"),
        (tensors(DRAFTER, lambda t: t.pop("slots")), DRAFTER, "lacks 'slots'"),
        (remove(DRAFTER), DRAFTER, "not readable as safetensors"),
    ],
)
def test_damaged_parts_of_a_bundle_are_named(copy: Path, damage: Damage, file: str, words: str) -> None:
    damage(copy)
    with pytest.raises(ModelError, match=words) as caught:
        load_bundle(copy)
    assert str(caught.value).startswith(str(copy / file))


def test_inconsistent_sizes_of_a_drafter_are_named_with_the_file(bundle: Bundle, tmp_path: Path) -> None:
    save_bundle(replace(bundle, drafter=tiny_drafter(bundle.verifier, **DRAFTERS["papers, big"])), tmp_path)
    file = tmp_path / "drafter" / "config.json"
    config = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(config | {"model": {"width": 40}}), encoding="utf-8")
    with pytest.raises(ModelError, match=r"config\.json: width 40 .* multiples of 16"):
        load_bundle(tmp_path)


def test_a_description_names_only_the_parts_that_are_stored(whole: Bundle, tmp_path: Path) -> None:
    save_bundle(replace(whole, info=replace(whole.info, ngrams=True, lexicon=True, labels=True)), tmp_path / "bundle")
    info = load_bundle(tmp_path / "bundle").info
    assert (info.ngrams, info.lexicon, info.labels) == (False, False, False)


@pytest.mark.parametrize(
    ("scores", "modes"),
    [
        ({"min_score": None, "min_score_in_company": None}, {}),
        ({"min_score": -0.4, "min_score_in_company": -2.5}, {"balanced": (-0.4, -2.5)}),
        ({"min_score": -0.4, "min_score_in_company": None}, {"balanced": (-0.4, -0.4)}),
    ],
)
def test_scores_of_older_bundles_are_those_of_the_balanced_mode(
    scores: dict[str, float | None], modes: dict[str, tuple[float, float]], tmp_path: Path
) -> None:
    (tmp_path / "bundle.json").write_text(json.dumps({"format": 1} | scores))
    assert read_info(tmp_path).modes == modes
