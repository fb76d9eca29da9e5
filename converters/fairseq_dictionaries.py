"""fairseq dictionaries, and the language tokens that multilingual tasks add to them."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from specdec_cli.errors import ModelError

SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
"""The pieces with the ids 0 to 3 of every fairseq vocabulary; dictionary files do not list them."""
MASK = "<mask>"
PRETRAINED, MULTILINGUAL = "translation_from_pretrained_bart", "translation_multi_simple_epoch"
"""The fairseq tasks with language tokens: fine-tuning of mBART, and multilingual translation (mBART-50, M2M-100)."""

_OVERWRITE = " #fairseq:overwrite"
_STYLES = {"multilingual": "__{}__", "mbart": "[{}]"}


def find_dictionary(folder: Path, names: Iterable[str], settings: Mapping[str, Any]) -> Path:
    """The dictionary file dict.LANGUAGE.txt of the first of the languages `names` that has one in `folder`, else the joint dictionary.

    Raises ModelError if there is neither.
    """
    fixed = Path(str(settings.get("fixed_dictionary") or "dict.txt")).name
    tried = list(dict.fromkeys([*(f"dict.{name}.txt" for name in names if name), fixed, "dict.txt"]))
    found = next((folder / name for name in tried if (folder / name).exists()), None)
    if found is None:
        raise ModelError(f"{folder}: no dictionary ({' or '.join(tried)}); give the source and the target language to look for others")
    return found


def read_dictionary(path: Path) -> list[str]:
    """The pieces of a fairseq dictionary in the order of their ids: the four of `SPECIAL`, then one for each line of the file.

    Raises ModelError naming a malformed line or a duplicate piece.
    """
    pieces, seen = list(SPECIAL), set(SPECIAL)
    for number, line in enumerate(_lines(path), start=1):
        overwrite = line.endswith(_OVERWRITE)
        piece, space, count = line.removesuffix(_OVERWRITE).rpartition(" ")
        if not space or not count.removeprefix("-").isdecimal():
            raise ModelError(f"{path}, line {number}: expected a token and a count, found {line!r}")
        if piece in seen and not overwrite:
            raise ModelError(f"{path}, line {number}: duplicate piece {piece!r}")
        pieces.append(piece)
        seen.add(piece)
    return pieces


def language_tokens(folder: Path, settings: Mapping[str, Any]) -> dict[str, str]:
    """The language tokens that the task of the checkpoint adds to every dictionary, by language; empty for bilingual tasks.

    Raises ModelError if a multilingual checkpoint does not list its languages, or has an unknown style of language tokens.
    """
    if settings["task"] not in (PRETRAINED, MULTILINGUAL):
        return {}
    style = "mbart" if settings["task"] == PRETRAINED else settings.get("lang_tok_style") or "multilingual"
    listed = settings.get("langs") or []
    names = listed.split(",") if isinstance(listed, str) else list(listed)
    if not names and settings.get("lang_dict"):
        names = [line for line in _lines(folder / Path(str(settings["lang_dict"])).name) if line]
    if style not in _STYLES or not names:
        raise ModelError(f"{folder}: the checkpoint lists no languages (langs, lang_dict), or has an unknown lang_tok_style")
    return {name: _STYLES[style].format(name) for name in names}


def with_languages(pieces: Sequence[str], tokens: Iterable[str], settings: Mapping[str, Any]) -> list[str]:
    """`pieces` with those of the language `tokens` appended that they lack and, for mBART models, the mask token if they lack it."""
    masked = settings["task"] == PRETRAINED or (settings["task"] == MULTILINGUAL and settings.get("lang_tok_style") == "mbart")
    known = set(pieces)
    return [*pieces, *(token for token in [*tokens, *([MASK] if masked else [])] if token not in known)]


def _lines(path: Path) -> list[str]:
    """The lines of a file, split at newlines only, because pieces may contain other line separators."""
    try:
        with path.open(encoding="utf-8") as stream:
            return [line.rstrip() for line in stream]
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"{path}: not readable ({error})") from error
