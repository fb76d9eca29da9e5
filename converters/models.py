"""Any model that can become a bundle: where it is, whose it is, and who converts it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from converters.checkpoints import WHOLE
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
"""Toolkits by name."""


@dataclass(frozen=True)
class Wanted:
    """What a conversion is told beside the model: languages and a task it may not name itself, and the decoder layers to keep."""

    source_language: str = ""
    target_language: str = ""
    task: str = ""
    decoder_layers: tuple[int, ...] | None = None


def find_format(path: Path) -> str | None:
    """Whose model lies at `path`; None if nobody's that is known."""
    return next((name for name, known in FORMATS.items() if known.recognises(path)), None)


def convert_model(path: Path, name: str | None, wanted: Wanted) -> Conversion:
    """The model at `path` as a bundle, by the toolkit `name`, else by what it looks like.

    Raises ModelError for a model that cannot be converted, UsageError for an unknown toolkit.
    """
    if name is not None and name not in FORMATS:
        raise UsageError(f"--from {name}: known are bundle, {', '.join(FORMATS)}")
    name = name or find_format(path)
    if name is None:
        raise ModelError(f"{path}: neither a bundle nor a model of {', '.join(FORMATS)}")
    try:
        return FORMATS[name].convert(path, wanted.source_language, wanted.target_language, wanted.task, wanted.decoder_layers)
    except ModelError as error:
        raise error if str(path) in str(error) else ModelError(f"{path}: {error}") from error
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        # Settings that are missing or of another kind than the toolkit writes.
        raise ModelError(f"{path}: not as {name} writes it ({type(error).__name__}: {error})") from error


def is_hub_name(name: str) -> bool:
    """Whether `name` could be a model on the Hugging Face hub: owner/name, and not a path.

    A name that begins with a full stop or whose owner is a folder here is a path.
    """
    return _HUB_NAME.fullmatch(name) is not None and not name.startswith(".") and not Path(name).parent.exists()


def fetch(name: str, revision: str | None, offline: bool) -> Path:
    """The folder of a model of the hub, from the hub's own cache where it is there. Raises ModelError."""
    from huggingface_hub import snapshot_download

    def download(*patterns: str, local: bool) -> Path:
        return Path(snapshot_download(name, revision=revision, allow_patterns=[*_SMALL_FILES, *patterns], local_files_only=local))

    # What is there whole is not asked for again.
    for local in (True,) if offline else (True, False):
        try:
            folder = download("*.safetensors", local=local)
            if not any(folder.glob("*.safetensors")):
                folder = download("pytorch_model*.bin", local=local)
        except Exception as error:  # the hub's library and all that it stands on have kinds of their own
            reason = str(error).strip().partition("\n")[0]
            if not local or offline:
                what = "not in the cache, and --offline forbids to fetch it" if offline else f"no such folder, and on the hub: {reason}"
                raise ModelError(f"{name}: {what}") from error
            continue
        if is_whole(folder):
            return folder
    raise ModelError(f"{name}: {'the cached copy' if offline else 'its folder on the hub'} lacks weights or a tokenizer")


def is_whole(folder: Path) -> bool:
    """Whether a folder of transformers' has its settings, all parts of its weights, and something to cut text with."""
    parts = {part for index in folder.glob("*.index.json") for part in read_json(index, ModelError).get("weight_map", {}).values()}
    weights = all((folder / part).exists() for part in parts) if parts else any((folder / name).exists() for name in WHOLE)
    return (folder / "config.json").exists() and weights and any((folder / name).exists() for name in _TOKENIZERS)
