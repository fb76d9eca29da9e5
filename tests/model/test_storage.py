"""Damaged weights on disk, and weights that do not match the configuration."""

import json
import math
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from specdec_cli.errors import ModelError
from specdec_cli.model.bundle import Bundle, load_bundle, save_bundle
from specdec_cli.model.storage import Storage
from tests.fakes import tiny_drafter

WEIGHTS = "verifier/model.safetensors"
MATRIX = "layers.0.feed_forward.inner.weight"


@pytest.fixture(scope="module")
def saved(bundle: Bundle, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Makes the folder of a bundle with a drafter, by the number format of its weights."""
    whole, folder = replace(bundle, drafter=tiny_drafter(bundle.verifier)), tmp_path_factory.mktemp("saved")
    save_bundle(whole, folder / "float32")
    save_bundle(whole, folder / "float16", "float16")
    save_bundle(whole, folder / "int8", "int8")
    return {path.name: path for path in folder.iterdir()}


def damaged(folder: Path, target: Path, change: Callable[[dict[str, Tensor]], object], name: str = WEIGHTS) -> Path:
    """A copy of a bundle with other weights."""
    copy = Path(shutil.copytree(folder, target / "bundle"))
    tensors = load_file(copy / name)
    change(tensors)
    save_file(tensors, copy / name)
    return copy


def configured(folder: Path, target: Path, file: str, **changes: Any) -> Path:
    """A copy of a bundle with another configuration."""
    copy = Path(shutil.copytree(folder, target / "bundle"))
    path = copy / file
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    return copy


@pytest.mark.parametrize("storage", ["float32", "int8"])
def test_the_bytes_that_are_written_are_told(bundle: Bundle, tmp_path: Path, storage: Storage) -> None:
    told: list[tuple[int, int]] = []
    save_bundle(bundle, tmp_path / "bundle", storage, written=lambda done, total: told.append((done, total)))
    size = (tmp_path / "bundle" / WEIGHTS).stat().st_size
    assert told[-1] == (size, size) and len(told) > 10
    assert told == sorted(told)


@pytest.mark.parametrize("storage", ["float32", "float16", "int8"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_weight_that_is_not_finite_is_named(saved: dict[str, Path], storage: str, value: float, tmp_path: Path) -> None:
    name = MATRIX + ".scale" if storage == "int8" else MATRIX
    folder = damaged(saved[storage], tmp_path, lambda tensors: tensors[name].view(-1)[3:4].fill_(value))
    with pytest.raises(ModelError, match=f"'{MATRIX}' holds values that are not finite") as caught:
        load_bundle(folder)
    assert str(folder / WEIGHTS) in str(caught.value)


def test_the_weights_of_a_drafter_are_checked_too(saved: dict[str, Path], tmp_path: Path) -> None:
    name = "drafter/model.safetensors"
    folder = damaged(saved["float32"], tmp_path, lambda tensors: tensors["slots"][0].fill_(math.nan), name)
    with pytest.raises(ModelError, match=f"{name}: 'slots' holds values that are not finite"):
        load_bundle(folder)


def test_finite_weights_with_an_infinite_sum_are_accepted(saved: dict[str, Path], tmp_path: Path) -> None:
    folder = damaged(saved["float32"], tmp_path, lambda tensors: tensors[MATRIX].fill_(3e38))
    assert load_bundle(folder).verifier.state_dict()[MATRIX].min() > 2e38


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.update({MATRIX: t[MATRIX][:8]}), rf"'{MATRIX}' is \(8, 32\), the configuration requires \(64, 32\)"),
        (lambda t: t.update({MATRIX: t[MATRIX].flatten()}), rf"'{MATRIX}' is \(2048,\)"),
        (lambda t: t.update({MATRIX + ".scale": torch.ones(3, 1)}), rf"'{MATRIX}.scale' is \(3, 1\), the configuration requires \(64, 1\)"),
        (lambda t: t.update({MATRIX + ".scale": torch.ones(64, 32)}), rf"'{MATRIX}.scale' is \(64, 32\)"),
        (lambda t: t.pop(MATRIX + ".scale"), f"lacks '{MATRIX}.scale'"),
        (lambda t: t.update({"norm.weight.scale": torch.ones(32, 1)}), "holds 'norm.weight.scale'"),
        (lambda t: t.update({"norm.weight": torch.ones(32, dtype=torch.int8)}), "lacks 'norm.weight.scale'"),
        (lambda t: t.update({"norm.weight": torch.ones(32, dtype=torch.int64)}), "'norm.weight' is stored as I64"),
        (lambda t: t.update({MATRIX + ".scale": torch.ones(64, 1, dtype=torch.int8)}), rf"'{MATRIX}.scale' is stored as I8"),
    ],
)
def test_int8_weights_of_another_shape_are_named(
    saved: dict[str, Path], change: Callable[[dict[str, Tensor]], object], words: str, tmp_path: Path
) -> None:
    folder = damaged(saved["int8"], tmp_path, change)
    with pytest.raises(ModelError, match=f"{WEIGHTS}: {words}"):
        load_bundle(folder)


@pytest.mark.parametrize(
    ("file", "changes"),
    [
        ("verifier/config.json", {"encoder_layers": 1000}),
        ("verifier/config.json", {"decoder_layers": 1024, "width": 16384, "feed_forward": 2**18}),
        ("verifier/config.json", {"width": 16384}),
        ("drafter/config.json", {"layers": 1000}),
        ("drafter/config.json", {"feed_forward": 2**18}),
    ],
)
def test_missing_weights_are_found_in_the_header(saved: dict[str, Path], file: str, changes: dict[str, int], tmp_path: Path) -> None:
    folder = configured(saved["float32"], tmp_path, file, **changes)
    with pytest.raises(ModelError, match=rf"{file}: a model of .* has at least \d+ weights, but .*model.safetensors holds \d+"):
        load_bundle(folder)


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: 9 bytes")])
def test_a_model_that_does_not_fit_into_memory_is_named(saved: dict[str, Path], error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("specdec_cli.model.bundle.load_weights", fail)
    with pytest.raises(ModelError, match=r"verifier/model.safetensors: not enough memory for its [\d,]+ weights"):
        load_bundle(saved["float32"])


@pytest.mark.parametrize("changes", [{"mask": 320}, {"shortlist": 321}])
def test_a_drafter_of_another_vocabulary_is_named(saved: dict[str, Path], changes: dict[str, int], tmp_path: Path) -> None:
    folder = configured(saved["float32"], tmp_path, "drafter/config.json", **changes)
    with pytest.raises(ModelError, match=rf"drafter/config.json: {next(iter(changes))} is 32\d, but the verifier's vocabulary has 320"):
        load_bundle(folder)


def test_blocks_longer_than_the_drafters_slots_are_refused(saved: dict[str, Path], tmp_path: Path) -> None:
    folder = configured(saved["float32"], tmp_path, "bundle.json", block_size=7)
    with pytest.raises(ModelError, match=r"bundle.json: block_size 7 is more than max_block 6 of .*drafter/config.json"):
        load_bundle(folder)


@pytest.mark.parametrize("name", ["bundle.json", "tokenizer.model", "verifier/config.json", WEIGHTS, "drafter/model.safetensors"])
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_only_regular_files_are_read(saved: dict[str, Path], name: str, kind: str, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(saved["float32"], tmp_path / "bundle"))
    (folder / name).unlink()
    if kind == "pipe":
        os.mkfifo(folder / name)
    else:
        (folder / name).symlink_to("/dev/zero")
    with pytest.raises(ModelError, match=f"{folder / name}: not a regular file"):
        load_bundle(folder)


def test_links_to_regular_files_are_followed(saved: dict[str, Path], tmp_path: Path) -> None:
    for path in sorted(saved["float32"].rglob("*")):
        own = tmp_path / path.relative_to(saved["float32"])
        if path.is_dir():
            own.mkdir()
        else:
            own.symlink_to(path)
    assert load_bundle(tmp_path).drafter is not None


def test_the_tokenizer_of_another_bundle_is_refused(saved: dict[str, Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(saved["float32"], tmp_path / "bundle"))
    stored = (folder / "tokenizer.model").read_bytes()
    start = stored.index("\u2581".encode())
    (folder / "tokenizer.model").write_bytes(stored[:start] + "\u2582".encode() + stored[start + 3 :])
    with pytest.raises(ModelError, match=f"{folder}/tokenizer.model: not the tokenizer that {folder}/bundle.json was stored with"):
        load_bundle(folder)
    # A bundle stored before there were digests has none.
    values = json.loads((folder / "bundle.json").read_text())
    del values["tokenizer_digest"]
    (folder / "bundle.json").write_text(json.dumps(values))
    load_bundle(folder)


def test_deeply_nested_json_is_named(saved: dict[str, Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(saved["float32"], tmp_path / "bundle"))
    (folder / "bundle.json").write_text('{"a": ' + "[" * 200_000 + "]" * 200_000 + "}")
    with pytest.raises(ModelError, match=r"bundle.json: not readable as JSON \(too deeply nested\)"):
        load_bundle(folder)


@pytest.mark.parametrize("storage", ["float32", "float16", "int8"])
def test_weights_are_written_some_rows_at_a_time(
    storage: Storage, saved: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("specdec_cli.model.storage._ROWS", 7)
    whole = load_bundle(saved["float32"])
    save_bundle(whole, tmp_path, storage)
    expected, written = (load_file(folder / WEIGHTS) for folder in (saved[storage], tmp_path))
    assert expected.keys() == written.keys() and all(torch.equal(written[name], value) for name, value in expected.items())
    # The file of a model in halves is the same: it has a copy in float32 of a few rows alone.
    whole.verifier.half()
    save_bundle(whole, tmp_path / "halves", "float16")
    halves = load_file(tmp_path / "halves" / WEIGHTS)
    assert all(torch.equal(halves[name], value) for name, value in load_file(saved["float16"] / WEIGHTS).items())


def test_a_disk_without_space_is_seen_before_anything_is_written(bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=100_000))
    with pytest.raises(OSError, match=r"No space left on device: 0\.2 MB are needed, and 0\.1 MB are free"):
        save_bundle(bundle, tmp_path / "bundle")
    assert not (tmp_path / "bundle" / WEIGHTS).exists() and not (tmp_path / "bundle" / "bundle.json").exists()
