"""Files of weights that are damaged, and structures that do not agree."""

import errno
import json
import struct
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from specdec_cli.decoding.options import DecodingOptions
from specdec_cli.errors import ModelError, UsageError
from specdec_cli.model.bundle import Bundle, save_bundle
from specdec_cli.model.config import TransformerConfig
from specdec_cli.native import library
from specdec_cli.native.library import LibraryError
from specdec_cli.native.model import NativeModel
from specdec_cli.native.tensors import drafter_tensors, verifier_tensors
from specdec_cli.native.weights import Weights
from specdec_cli.opening.engines import open_engine
from specdec_cli.opening.machine import MachineOptions
from specdec_cli.opening.models import ModelChoice


def write(path: Path, header: Any, data: bytes = b"", length: int | None = None) -> Path:
    encoded = json.dumps(header).encode() if not isinstance(header, bytes) else header
    path.write_bytes(struct.pack("<Q", len(encoded) if length is None else length) + encoded + data)
    return path


def described(dtype: Any = "F32", shape: Any = (2,), offsets: Any = (0, 8)) -> dict[str, Any]:
    return {"x": {"dtype": dtype, "shape": shape, "data_offsets": offsets}}


@pytest.mark.parametrize(
    ("header", "data", "length"),
    [
        (b"{", b"", None),
        (b"[]", b"", None),
        (b"[" * 100_000, b"", None),
        (described(), b"", 2**62),
        (described(), b"\0" * 7, None),
        (described(), b"\0" * 9, None),
        (described("F99"), b"\0" * 8, None),
        (described(shape=(3,)), b"\0" * 8, None),
        (described(shape=(-1, -2)), b"\0" * 8, None),
        (described(shape=(2**40, 2**40)), b"\0" * 8, None),
        (described(shape=(2.0,)), b"\0" * 8, None),
        (described(offsets=(8, 16)), b"\0" * 16, None),
        (described(offsets=(-8, 0)), b"\0" * 8, None),
        (described() | {"y": described()["x"]}, b"\0" * 8, None),
    ],
)
def test_a_damaged_header_is_an_error_that_names_the_file(tmp_path: Path, header: Any, data: bytes, length: int | None) -> None:
    path = write(tmp_path / "damaged.safetensors", header, data, length)
    with pytest.raises(ModelError, match=r"damaged\.safetensors: not readable as safetensors"):
        Weights(path)


def test_a_lack_of_memory_is_not_a_damaged_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    path = write(tmp_path / "whole.safetensors", described(), b"\0" * 8)
    monkeypatch.setattr("mmap.mmap", refuse)
    with pytest.raises(OSError, match="Cannot allocate memory"):
        Weights(path)


@pytest.fixture
def saved(make_bundle: Callable[..., Bundle], tmp_path: Path) -> tuple[Bundle, Path]:
    bundle = make_bundle()
    save_bundle(bundle, tmp_path)
    return bundle, tmp_path / "verifier" / "model.safetensors"


def test_every_tensor_is_named_with_its_shape(saved: tuple[Bundle, Path]) -> None:
    bundle, path = saved
    stored = {name: tuple(value.shape) for name, value in load_file(path).items()}
    assert dict(verifier_tensors(bundle.verifier.config)) == stored
    from specdec_cli.model.drafter import BlockDrafter
    from specdec_cli.model.drafter_config import DrafterConfig

    config = DrafterConfig(layers=2, feed_forward=32, max_block=3, chain=16)
    drafter = BlockDrafter(config, bundle.verifier)
    assert dict(drafter_tensors(config, bundle.verifier.config)) == {
        name: tuple(value.shape) for name, value in drafter.state_dict().items()
    }
    weights, both = Weights(path), [*dict(verifier_tensors(bundle.verifier.config))]
    assert weights.stored.keys() == set(both)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("norm.bias", None, "lacks 'norm.bias'"),
        ("more", torch.zeros(1), "holds 'more'"),
        ("norm.bias", torch.zeros(31), r"'norm.bias' is \(31,\)"),
        ("norm.bias", torch.full((32,), torch.nan), "'norm.bias': it holds values that are not finite"),
        ("layers.0.feed_forward.inner.weight", torch.full((64, 32), torch.inf), "inner.weight': it holds values that are not finite"),
        ("encoder.embedding.tokens.weight", torch.full((320, 32), torch.inf), "tokens.weight': it holds values that are not finite"),
        ("norm.bias", torch.zeros(32, dtype=torch.float64), "stored as F64"),
    ],
)
def test_a_wrong_tensor_is_named(saved: tuple[Bundle, Path], name: str, value: torch.Tensor | None, message: str) -> None:
    bundle, path = saved
    tensors = {key: each for key, each in load_file(path).items() if key != name or value is not None}
    save_file(tensors | ({} if value is None else {name: value}), path)
    with pytest.raises(ModelError, match=message):
        NativeModel(bundle.verifier.config, path)


def test_a_shape_that_does_not_fit_is_refused_before_memory_is_taken(saved: tuple[Bundle, Path]) -> None:
    bundle, path = saved
    for changes in ({"width": 2**14, "heads": 2}, {"decoder_layers": 1024}, {"vocabulary_size": 2**24}):
        with pytest.raises(ModelError, match=r"model\.safetensors"):
            NativeModel(TransformerConfig.from_dict(bundle.verifier.config.to_dict() | changes), path)


def test_an_unknown_instruction_set_is_refused(saved: tuple[Bundle, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECDEC_ISA", "mmx")
    with pytest.raises(UsageError, match=r"SPECDEC_ISA=mmx: this machine has .*scalar"):
        NativeModel(saved[0].verifier.config, saved[1])


def test_no_engine_replaces_a_library_of_other_sources(saved: tuple[Bundle, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    library.load_library.cache_clear()
    monkeypatch.setattr(library, "HEADER", replace(library.HEADER, checksum=library.HEADER.checksum + 1))
    with pytest.raises(
        UsageError, match=r"^the native engine: /.*: built from other sources than this version; install the package again$"
    ):
        open_engine(ModelChoice(str(saved[1].parents[1])), MachineOptions(), DecodingOptions())


def test_a_library_of_other_sources_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    library.load_library.cache_clear()
    monkeypatch.setattr(library, "HEADER", replace(library.HEADER, checksum=library.HEADER.checksum + 1))
    with pytest.raises(LibraryError, match=r"^/.*\.so: built from other sources than this version; install the package again$"):
        library.load_library()
    other = {"specdec_new": library.HEADER.functions["specdec_interface"]}
    monkeypatch.setattr(library, "HEADER", replace(library.HEADER, functions=other))
    with pytest.raises(LibraryError, match="built from other sources"):
        library.load_library()
    monkeypatch.setenv("SPECDEC_NATIVE", "/nowhere.so")
    with pytest.raises(LibraryError, match="/nowhere"):
        library.load_library()


LOADING = """
import os, sys
from specdec_cli.native.library import LibraryError, load_library
for path in sys.argv[1:]:
    os.environ["SPECDEC_NATIVE"] = path
    load_library.cache_clear()
    try:
        load_library()
        print("loaded")
    except LibraryError as error:
        print(str(error).removeprefix(f"{path}: "))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have libraries of other formats")
def test_a_library_that_is_cut_short_is_refused_before_it_is_loaded(tmp_path: Path) -> None:
    whole = library.library_path()
    assert whole is not None
    content = whole.read_bytes()
    paths = [tmp_path / f"{size}.so" for size in (len(content) - 1, len(content) // 2, 5000, 64, 10)]
    for path in paths:
        path.write_bytes(content[: int(path.stem)])
    command = [sys.executable, "-c", LOADING, str(whole), *map(str, paths)]
    loaded, *refused, no_header = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert loaded == "loaded" and "too short" in no_header
    assert refused == ["it is cut short; install the package again"] * 4


def test_whole_numbers_are_packed_as_what_they_stand_for_would_be(bundle: Bundle, tmp_path: Path) -> None:
    save_bundle(bundle, tmp_path / "int8", "int8")
    stored = load_file(tmp_path / "int8" / "verifier" / "model.safetensors")
    whole = {name for name, value in stored.items() if value.dtype == torch.int8}
    for name in whole:
        stored[name][1] = stored[name][1].clamp(-90, 90)  # no row that rounding makes: the largest number is 127
        stored[name][2] = -128
        stored[name][3] = 0
        stored[name + ".scale"][4:6] *= torch.tensor([[1e-30], [1e4]])
    widened = {name: value.float() * stored[name + ".scale"] if name in whole else value for name, value in stored.items()}
    logits = []
    for kind, tensors in (("int8", stored), ("float32", {name: value for name, value in widened.items() if not name.endswith(".scale")})):
        path = tmp_path / f"{kind}.safetensors"
        save_file(tensors, path)
        model, width, size = NativeModel(bundle.shape, path), bundle.shape.width, bundle.shape.vocabulary_size
        states, found = torch.randn(5, width, generator=torch.Generator().manual_seed(0)), torch.empty(5, size)
        model.project(1, 5, states.data_ptr(), found.data_ptr())
        logits.append(found)
    assert torch.equal(*logits) and logits[0].std() > 0.1
