"""Vocabularies and SentencePiece models in the folder of a Marian model."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from converters.vocabularies import fill_unused, pieces_by_id
from specdec_cli.errors import ModelError
from specdec_cli.text.tokenize.converted import TARGET, ConvertedTokenizer, TokenizerConfig, make_segmenter
from specdec_cli.text.tokenize.sentencepiece import load_sentencepiece, pieces_of

EOS, UNKNOWN, PADDING = "</s>", "<unk>", "<pad>"

_PIECES = ("source.spm", "target.spm")
# File names of the source and the target vocabulary; a pattern must match exactly one file.
_PATTERNS = (
    ("*.src.vocab.yml", "*.trg.vocab.yml"),
    ("*vocab.yml", "*vocab.yml"),
    ("vocab*.spm", "vocab*.spm"),
    _PIECES,
)
_ESCAPED = re.compile(r"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)")
_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b", "_": "\xa0", "N": "\x85"}


def read_decoding(folder: Path) -> dict[str, Any]:
    """The content of decoder.yml in `folder`, which names the files of `models` and `vocabs`; empty if there is no such file.

    Raises ModelError if it is not readable as YAML.
    """
    path = folder / "decoder.yml"
    if not path.exists():
        return {}
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
        raise ModelError(f"{path}: not readable as YAML ({error})") from error
    return found if isinstance(found, dict) else {}


def find_vocabularies(folder: Path) -> tuple[Path, Path]:
    """The files of the source and the target vocabulary: those that decoder.yml names, else those of a usual name.

    Raises ModelError if there are none, or several with a usual name.
    """
    listed = [folder / Path(str(name)).name for name in read_decoding(folder).get("vocabs") or []]
    if len(listed) == 2 and all(path.exists() for path in listed):
        return listed[0], listed[1]
    for names in _PATTERNS:
        found = [list(folder.glob(name)) for name in names]
        if all(len(paths) == 1 for paths in found):
            return found[0][0], found[1][0]
    raise ModelError(f"{folder}: no vocabularies, or several (vocab.spm, {' with '.join(_PIECES)}, or vocab.yml with those two)")


def read_vocabulary(path: Path) -> list[str]:
    """The pieces in the order of their ids, from a SentencePiece model (.spm) or a mapping of pieces to ids in YAML or JSON.

    Raises ModelError for an unreadable or malformed file.
    """
    if path.suffix == ".spm":
        return pieces_of(load_sentencepiece(path), path)
    try:
        text = path.read_text(encoding="utf-8")
        return pieces_by_id(
            {str(piece): int(number) for piece, number in json.loads(text).items()} if text.startswith("{") else _ids(path, text)
        )
    except (OSError, ValueError, AttributeError, TypeError, RecursionError) as error:
        raise ModelError(f"{path}: not readable as a vocabulary ({error})") from error


def make_tokenizer(
    folder: Path, files: tuple[Path, Path], vocabularies: Sequence[Sequence[str]], start: int, pair: tuple[str, str]
) -> ConvertedTokenizer:
    """A SentencePiece tokenizer with the source and target `vocabularies`, filled up with placeholders to `start` pieces each.

    The id `start` is padding. `files` are the vocabulary files, `pair` the source and the target language. Raises ModelError if the
    SentencePiece models are not in `folder`, and UsageError for a language that is missing or unknown.
    """
    source, target = ([*fill_unused(pieces, start), PADDING] for pieces in vocabularies)
    names = [path.name for path in files] if files[0].suffix == ".spm" else list(_PIECES)
    absent = [name for name in names if not (folder / name).exists()]
    if absent:
        raise ModelError(f"{folder}: no {' and no '.join(absent)}, the SentencePiece models for {files[0].name}")
    languages = {piece[2:-2]: piece for piece in source if piece.startswith(">>") and piece.endswith("<<")}
    config = TokenizerConfig(
        kind="sentencepiece",
        files=tuple(names),
        unknown=UNKNOWN,
        mask=PADDING,
        before=(TARGET,) if languages else (),
        after=(EOS,),
        hidden=(EOS, UNKNOWN, PADDING),
        languages=languages,
    )
    segmenter = make_segmenter(config, folder, pair[0], pair[1], target)
    return ConvertedTokenizer(config, segmenter, target, None if source == target else source, pair[0], pair[1], folder)


def _ids(path: Path, text: str) -> Mapping[str, int]:
    """Parse lines `piece: id`. A YAML parser would read some pieces as numbers, merge keys or line breaks."""
    ids: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        piece, colon, count = line.rstrip().rpartition(":")
        if not line.strip() or line.strip() == "---":
            continue
        if not colon or not count.strip().isdecimal():
            raise ModelError(f"{path}, line {number}: expected a piece and its id, found {line!r}")
        ids[_unquoted(piece.strip(" "))] = int(count)
    return ids


def _unquoted(piece: str) -> str:
    if len(piece) > 1 and piece[0] == piece[-1] == "'":
        return piece[1:-1].replace("''", "'")
    if len(piece) > 1 and piece[0] == piece[-1] == '"':
        return _ESCAPED.sub(lambda found: chr(int(found[1][1:], 16)) if found[1][1:] else _PLAIN.get(found[1], found[1]), piece[1:-1])
    return piece
