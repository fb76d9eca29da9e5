"""Checks of the sizes and token ids in the settings of Hugging Face models."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from specdec_cli.errors import ModelError

_SIZES = ("d_model", "encoder_ffn_dim", "encoder_attention_heads", "encoder_layers", "decoder_layers", "max_position_embeddings")
_OF_MODEL = ("pad_token_id", "eos_token_id")
_OF_GENERATION = (
    "eos_token_id",
    "decoder_start_token_id",
    "forced_bos_token_id",
    "forced_eos_token_id",
    "suppress_tokens",
    "bad_words_ids",
)


def check_numbers(folder: Path, config: Mapping[str, Any], generation: Mapping[str, Any], tokens: int) -> None:
    """Check the sizes and token ids in config.json (`config`) and in the generation settings; `tokens` is the vocabulary size.

    Raises ModelError, naming file and key, for a size that is not a positive integer, for a missing id, and for an id outside the
    vocabulary.
    """
    for key in _SIZES:
        if not _is_integer(config.get(key)) or config[key] < 1:
            raise ModelError(f"{folder / 'config.json'}: {key} must be a positive integer, not {config.get(key)!r}")
    for key in _OF_MODEL:
        _check_ids(folder / "config.json", key, config.get(key), tokens, needed=True)
    for key in _OF_GENERATION:
        value = generation.get(key)
        file = "config.json" if value == config.get(key) else "generation_config.json"
        _check_ids(folder / file, key, value, tokens, needed=key == "decoder_start_token_id")


def _check_ids(path: Path, key: str, value: Any, tokens: int, needed: bool) -> None:
    ids = list(_flat(value))
    if needed and not ids:
        raise ModelError(f"{path}: {key} is missing")
    for each in ids:
        if not _is_integer(each) or not 0 <= each < tokens:
            raise ModelError(f"{path}: {key} is {each!r}, but the vocabulary has {tokens} tokens")


def _flat(value: Any) -> Iterator[Any]:
    """Yield the ids in a value, which is None, an id, or a nested list of ids."""
    if isinstance(value, list):
        for each in value:
            yield from _flat(each)
    elif value is not None:
        yield value


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
