"""Download of models from the Hugging Face hub."""

import re
from pathlib import Path

from specdec_cli.errors import ModelError
from specdec_cli.files import read_json

WEIGHT_FILES = ("model.safetensors", "pytorch_model.bin")
"""Names of a file with all weights of a model."""
_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")
_SMALL_FILES = ("*.json", "*.txt", "*.spm", "*.model", "*.bpe", "*.yml")
_TOKENIZERS = ("tokenizer.json", "source.spm", "sentencepiece.bpe.model", "spiece.model", "merges.txt")


def is_hub_name(name: str) -> bool:
    """Whether `name` has the form owner/name of a model on the Hugging Face hub, and is not a path.

    A name is taken for a path if it starts with a full stop or its first part is an existing folder.
    """
    return _HUB_NAME.fullmatch(name) is not None and not name.startswith(".") and not Path(name).parent.exists()


def cached_copy(name: str) -> Path | None:
    """The folder of the default branch of the model `name` in the hub's cache on disk; None if it is not there.

    It is found without the hub's library, whose import takes long; not all files of a model need be there.
    """
    from huggingface_hub.constants import HF_HUB_CACHE

    repository = Path(HF_HUB_CACHE) / f"models--{name.replace('/', '--')}"
    try:
        folder = repository / "snapshots" / (repository / "refs" / "main").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return folder if folder.is_dir() else None


def fetch(name: str, revision: str | None, offline: bool) -> Path:
    """Return the folder of the model `name` of the Hugging Face hub, downloaded unless the hub's cache on disk has
    all its files.

    `revision` is a branch, tag or commit (None: the default branch). With `offline` nothing is downloaded. Raises
    ModelError if the model cannot be found, or lacks weights or a tokenizer.
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
                what = "not in the cache, and offline nothing is downloaded" if offline else f"no such folder, and on the hub: {reason}"
                raise ModelError(f"{name}: {what}") from error
            continue
        if is_complete(folder):
            return folder
    raise ModelError(f"{name}: {'the cached copy' if offline else 'its folder on the hub'} lacks weights or a tokenizer")


def is_complete(folder: Path) -> bool:
    """Whether a Hugging Face model folder has config.json, all files of its weights, and a tokenizer."""
    parts = {part for index in folder.glob("*.index.json") for part in read_json(index, ModelError).get("weight_map", {}).values()}
    weights = all((folder / part).exists() for part in parts) if parts else any((folder / name).exists() for name in WEIGHT_FILES)
    config, tokenizer = folder / "config.json", any((folder / name).exists() for name in _TOKENIZERS)
    return config.exists() and weights and (tokenizer or _reads_bytes(folder))


def _reads_bytes(folder: Path) -> bool:
    """Whether a model reads bytes, and so has no file of a tokenizer but its settings."""
    path = folder / "tokenizer_config.json"
    return path.exists() and read_json(path, ModelError).get("tokenizer_class") == "ByT5Tokenizer"
