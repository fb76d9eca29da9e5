"""fairseq's dictionaries, and the language tokens that tasks of many languages add to them."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from specdec_cli.errors import ModelError

SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
"""The pieces that no dictionary lists, by id."""
MASK = "<mask>"
PRETRAINED, MANY = "translation_from_pretrained_bart", "translation_multi_simple_epoch"
"""The tasks with language tokens: mBART's fine-tuning, and many languages at once (mBART-50, M2M-100)."""

_OVERWRITE = " #fairseq:overwrite"
_STYLES = {"multilingual": "__{}__", "mbart": "[{}]"}


def find_dictionary(folder: Path, names: Iterable[str], settings: Mapping[str, Any]) -> Path:
    """The dictionary of a side that goes by one of `names`, or that of both sides. Raises ModelError."""
    fixed = Path(str(settings.get("fixed_dictionary") or "dict.txt")).name
    tried = list(dict.fromkeys([*(f"dict.{name}.txt" for name in names if name), fixed, "dict.txt"]))
    found = next((folder / name for name in tried if (folder / name).exists()), None)
    if found is None:
        raise ModelError(f"{folder}: no dictionary ({' or '.join(tried)}); --source-language and --target-language name others")
    return found


def read_dictionary(path: Path) -> list[str]:
    """The pieces of a dictionary by id: fairseq's own four, then one a line. Raises ModelError naming a line that is broken."""
    pieces, seen = list(SPECIAL), set(SPECIAL)
    for number, line in enumerate(_lines(path), start=1):
        again = line.endswith(_OVERWRITE)
        piece, space, count = line.removesuffix(_OVERWRITE).rpartition(" ")
        if not space or not count.removeprefix("-").isdecimal():
            raise ModelError(f"{path}, line {number}: expected a token and a count, found {line!r}")
        if piece in seen and not again:
            raise ModelError(f"{path}, line {number}: {piece!r} is there already")
        pieces.append(piece)
        seen.add(piece)
    return pieces


def language_tokens(folder: Path, settings: Mapping[str, Any]) -> dict[str, str]:
    """The tokens that the task adds to every dictionary, by language. Raises ModelError for a list that is not there."""
    if settings["task"] not in (PRETRAINED, MANY):
        return {}
    style = "mbart" if settings["task"] == PRETRAINED else settings.get("lang_tok_style") or "multilingual"
    listed = settings.get("langs") or []
    names = listed.split(",") if isinstance(listed, str) else list(listed)
    if not names and settings.get("lang_dict"):
        names = [line for line in _lines(folder / Path(str(settings["lang_dict"])).name) if line]
    if style not in _STYLES or not names:
        raise ModelError(f"{folder}: the checkpoint tells no languages (langs, lang_dict), or none of a known style")
    return {name: _STYLES[style].format(name) for name in names}


def with_languages(pieces: Sequence[str], tokens: Iterable[str], settings: Mapping[str, Any]) -> list[str]:
    """A dictionary as the task enlarges it: the language tokens it lacks, then the mask of models that were pretrained."""
    masked = settings["task"] == PRETRAINED or (settings["task"] == MANY and settings.get("lang_tok_style") == "mbart")
    known = set(pieces)
    return [*pieces, *(token for token in [*tokens, *([MASK] if masked else [])] if token not in known)]


def _lines(path: Path) -> list[str]:
    """Lines as fairseq counts them: only a newline ends one, for tokens may be any other white space."""
    try:
        with path.open(encoding="utf-8") as stream:
            return [line.rstrip() for line in stream]
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"{path}: not readable ({error})") from error
