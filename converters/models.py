"""Detection of a model's format, its conversion to a bundle, and download from the Hugging Face hub."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from converters.checkpoints import SINGLE_FILES
from converters.conversion import Conversion
from converters.from_fairseq import from_fairseq, is_fairseq
from converters.from_huggingface import from_huggingface, is_huggingface
from converters.from_marian import from_marian, is_marian
from specdec_cli.errors import ModelError, UsageError
from specdec_cli.files import read_json

_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")
_SMALL_FILES = ("*.json", "*.txt", "*.spm", "*.model", "*.bpe", "*.yml")
_TOKENIZERS = ("tokenizer.json", "source.spm", "sentencepiece.bpe.model", "merges.txt")


@dataclass(frozen=True)
class _Format:
    recognises: Callable[[Path], bool]
    convert: Callable[..., Conversion]


FORMATS: Mapping[str, _Format] = {
    "huggingface": _Format(is_huggingface, from_huggingface),
    "marian": _Format(is_marian, from_marian),
    "fairseq": _Format(is_fairseq, from_fairseq),
}
"""Formats by the name of their toolkit."""


@dataclass(frozen=True)
class ConversionOptions:
    """Options of a conversion: languages and task (empty: those of the model), and the decoder layers to keep (None: all)."""

    source_language: str = ""
    target_language: str = ""
    task: str = ""
    decoder_layers: tuple[int, ...] | None = None


def find_format(path: Path) -> str | None:
    """The name of the format of the model at `path`; None if it is of no known format."""
    return next((name for name, known in FORMATS.items() if known.recognises(path)), None)


def convert_model(path: Path, name: str | None, options: ConversionOptions) -> Conversion:
    """Convert the model at `path` of the format `name` (None: detected) to a bundle.

    Raises ModelError for a model that cannot be converted, and UsageError for an unknown format.
    """
    if name is not None and name not in FORMATS:
        raise UsageError(f"--from {name}: known are bundle, {', '.join(FORMATS)}")
    name = name or find_format(path)
    if name is None:
        raise ModelError(f"{path}: neither a bundle nor a model of {', '.join(FORMATS)}")
    try:
        return FORMATS[name].convert(path, options.source_language, options.target_language, options.task, options.decoder_layers)
    except ModelError as error:
        raise error if str(path) in str(error) else ModelError(f"{path}: {error}") from error
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        # A setting is missing or has an unexpected type.
        raise ModelError(f"{path}: not a valid {name} model ({type(error).__name__}: {error})") from error


def is_hub_name(name: str) -> bool:
    """Whether `name` has the form owner/name of a model on the Hugging Face hub, and is not a path.

    A name is taken for a path if it starts with a full stop or its first part is an existing folder.
    """
    return _HUB_NAME.fullmatch(name) is not None and not name.startswith(".") and not Path(name).parent.exists()


def fetch(name: str, revision: str | None, offline: bool) -> Path:
    """The folder of a model of the Hugging Face hub, downloaded unless it is in the hub's cache.

    With `offline` nothing is downloaded. Raises ModelError if the model cannot be found or is incomplete.
    """
    from huggingface_hub import snapshot_download

    def download(*patterns: str, local: bool) -> Path:
        return Path(snapshot_download(name, revision=revision, allow_patterns=[*_SMALL_FILES, *patterns], local_files_only=local))

    # The cache first: a complete copy needs no request to the hub.
    for local in (True,) if offline else (True, False):
        try:
            folder = download("*.safetensors", local=local)
            if not any(folder.glob("*.safetensors")):
                folder = download("pytorch_model*.bin", local=local)
        except Exception as error:  # huggingface_hub and its dependencies raise exceptions of many classes
            reason = str(error).strip().partition("\n")[0]
            if not local or offline:
                what = (
                    "not in the cache, and not downloaded because of --offline" if offline else f"no such folder, and on the hub: {reason}"
                )
                raise ModelError(f"{name}: {what}") from error
            continue
        if is_complete(folder):
            return folder
    raise ModelError(f"{name}: {'the cached copy' if offline else 'its folder on the hub'} lacks weights or a tokenizer")


def is_complete(folder: Path) -> bool:
    """Whether a Hugging Face model folder has config.json, all files of its weights, and a tokenizer."""
    parts = {part for index in folder.glob("*.index.json") for part in read_json(index, ModelError).get("weight_map", {}).values()}
    weights = all((folder / part).exists() for part in parts) if parts else any((folder / name).exists() for name in SINGLE_FILES)
    return (folder / "config.json").exists() and weights and any((folder / name).exists() for name in _TOKENIZERS)
