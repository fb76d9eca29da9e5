"""Refused models of other toolkits: unknown formats, invalid numbers, and malformed files."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from converters import formats
from converters.checkpoints import read_pickle
from converters.conversion import Conversion, ConversionOptions
from converters.formats import Reader, convert_model
from converters.huggingface import from_huggingface
from specdec_cli.errors import ModelError

huggingface = pytest.importorskip("tests.converters.huggingface", reason="transformers is not installed")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like those of OPUS-MT."""
    torch.set_num_threads(1)
    folder: Path = huggingface.marian(tmp_path_factory.mktemp("saved")).folder
    return folder


def changed(saved: Path, target: Path, file: str, key: str, value: Any) -> Path:
    """A copy of the folder with one value changed."""
    folder = Path(shutil.copytree(saved, target / "model"))
    values = json.loads((folder / file).read_text())
    (folder / file).write_text(json.dumps(values | {key: value}))
    return folder


@pytest.mark.parametrize("value", [-1, 1_000_000_000, 2.0, "2", True])
@pytest.mark.parametrize(
    ("file", "key"),
    [
        ("generation_config.json", "decoder_start_token_id"),
        ("generation_config.json", "suppress_tokens"),
        ("config.json", "eos_token_id"),
        ("config.json", "pad_token_id"),
    ],
)
def test_an_id_outside_the_vocabulary_is_named(saved: Path, file: str, key: str, value: Any, tmp_path: Path) -> None:
    folder = changed(saved, tmp_path, file, key, [value] if key == "suppress_tokens" else value)
    with pytest.raises(ModelError, match=rf"{folder / file}: {key} is {value!r}, but the vocabulary has \d+ tokens"):
        from_huggingface(folder)


@pytest.mark.parametrize("words", [[[-1]], [[10**9, 3]], [["a"]]])
def test_forbidden_tokens_must_be_in_the_vocabulary(saved: Path, words: list[Any], tmp_path: Path) -> None:
    folder = changed(saved, tmp_path, "generation_config.json", "bad_words_ids", words)
    with pytest.raises(ModelError, match=rf"generation_config.json: bad_words_ids is {words[0][0]!r}, but the vocabulary"):
        from_huggingface(folder)


def test_an_empty_folder_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=rf"^{tmp_path}: no model; config.json and the weights .* are expected in this folder$"):
        from_huggingface(tmp_path)


def test_a_missing_id_is_named(saved: Path, tmp_path: Path) -> None:
    folder = changed(saved, tmp_path, "config.json", "eos_token_id", None)
    with pytest.raises(ModelError, match=r"config.json: eos_token_id is missing"):
        from_huggingface(folder)


@pytest.mark.parametrize("key", ["d_model", "encoder_ffn_dim", "encoder_layers", "max_position_embeddings"])
@pytest.mark.parametrize("value", [0, -16, 2**31, 1e308, "x", None])
def test_an_invalid_size_is_named(saved: Path, key: str, value: Any, tmp_path: Path) -> None:
    folder = changed(saved, tmp_path, "config.json", key, value)
    if key == "encoder_ffn_dim":
        values = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(values | {"decoder_ffn_dim": value}))
    names = {"d_model": "width", "encoder_ffn_dim": "feed_forward", "max_position_embeddings": "max_positions"}
    words = f"{names.get(key, key)} must be an integer from" if value == 2**31 else f"config.json: {key} must be a positive integer"
    with pytest.raises(ModelError, match=words):
        from_huggingface(folder)


def test_layers_without_weights_are_refused(saved: Path, tmp_path: Path) -> None:
    folder = changed(saved, tmp_path, "config.json", "encoder_layers", 1000)
    with pytest.raises(ModelError, match=r"weights: a model of these layers and sizes has at least \d+, but there are \d+"):
        from_huggingface(folder)


def test_an_infinite_length_is_no_limit(saved: Path, tmp_path: Path) -> None:
    folder = changed(saved, tmp_path, "generation_config.json", "max_length", 10**30)
    assert from_huggingface(folder).bundle.info.max_length == 0


def test_tensors_larger_than_their_storage_are_refused(saved: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(saved, tmp_path / "model"))
    (folder / "model.safetensors").unlink()
    torch.save({"shared.weight": torch.zeros(1, dtype=torch.float16).expand(10**6, 10**6)}, folder / "pytorch_model.bin")
    with pytest.raises(ModelError, match=r"pytorch_model.bin: 'shared.weight' has shape \(1000000, 1000000\)"):
        from_huggingface(folder)


@pytest.mark.parametrize("content", [b"\x80\x02i", b"\x80\x02(ios\nsystem\n."])
def test_errors_do_not_advise_unsafe_loading(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "model.pt").write_bytes(content)
    with pytest.raises(ModelError, match=r"model.pt: holds other objects; only weights and plain values are loaded") as caught:
        read_pickle(tmp_path / "model.pt")
    assert "torch" not in str(caught.value) and "weights_only" not in str(caught.value)


@pytest.mark.parametrize("error", [KeyError("d_model"), ZeroDivisionError("division by zero")])
def test_a_model_with_missing_or_wrong_settings_is_refused(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def convert(*_: object) -> Conversion:
        raise error

    monkeypatch.setattr(formats, "READERS", {"made": Reader(lambda _: True, convert)})
    with pytest.raises(ModelError, match=f"^folder: not a valid made model \\({type(error).__name__}: .*\\)$"):
        convert_model(Path("folder"), None, ConversionOptions())
