"""Tokenizers of Hugging Face models."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import tokenizers

from converters import t5
from converters.languages import M2M_100, MBART_25, MBART_50
from converters.purposes import Purpose
from converters.vocabularies import byte_level_bpe, fill_unused, pieces_by_id
from specdec_cli.errors import ModelError, UsageError
from specdec_cli.files import read_json
from specdec_cli.language_codes import short_code
from specdec_cli.text.tokenize.converted import SOURCE, TARGET, ConvertedTokenizer, TokenizerConfig, make_segmenter
from specdec_cli.text.tokenize.segmenters import Segmenter, TokenizersSegmenter, read_tokenizers_file
from specdec_cli.text.tokenize.sentencepiece import load_sentencepiece, pieces_of

_FILE = "tokenizer.json"
_PIECES = "sentencepiece.bpe.model"
_T5_PIECES = "spiece.model"
_BYTES = "ByT5Tokenizer"
_SENTINEL = re.compile(r"▁?<extra_id_\d+>")
"""The pieces that stand for gaps in T5's first training."""
_MADLAD_LANGUAGE = re.compile(r"<2([a-z]{2,3}(?:_[A-Za-z]+)*)>")
_CODES = ("vocab.json", "merges.txt")
_SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
_MASK = "<mask>"
_LANGUAGE = re.compile(r"[a-z]{2,3}_[A-Z][A-Za-z]{1,3}|__[a-z]{2,3}__")


def read_tokenizer(
    folder: Path,
    config: Mapping[str, Any],
    generation: Mapping[str, Any],
    languages: tuple[str, str],
    rows: tuple[int, int],
    purpose: Purpose | None = None,
) -> ConvertedTokenizer:
    """The tokenizer of the Hugging Face model in `folder` for the source and target `languages` (empty: those in its settings), and for the
    `purpose` of a model of the T5 family.

    `rows` are the numbers of rows of the source and target embeddings; rows without a piece get a placeholder piece. Raises
    ModelError for missing or malformed files, and UsageError for a language that is missing or unknown.
    """
    settings = _tokenizer_settings(folder)
    kind, source = config["model_type"], None
    if kind == "marian":
        own, target, source = _marian(folder)
    else:
        own, target = _one_vocabulary(folder, config, rows[1])
    used, target = len(target), fill_unused(target, rows[1])
    if kind == "bart":
        forced = generation.get("forced_bos_token_id")
        own = replace(own, before=("<s>",), forced=None if forced is None else target[forced])
    elif purpose is not None:
        own = _t5(replace(own, hidden=(*own.hidden, *target[used:])), target, purpose)
    elif kind != "marian":
        own = _multilingual(own, target, config, settings | {"decoder_start": generation.get("decoder_start_token_id")})
    pair = _pair(languages, own, target, generation, settings)
    segmenter = _byte_segmenter() if reads_bytes(folder, config) else _segmenter(own, folder, pair, target)
    return ConvertedTokenizer(own, segmenter, target, None if source is None else fill_unused(source, rows[0]), *pair, folder)


def _marian(folder: Path) -> tuple[TokenizerConfig, list[str], list[str] | None]:
    """Configuration, target vocabulary, and source vocabulary (None: shared) of a Marian tokenizer."""
    source, own_target = _by_id(folder / "vocab.json"), folder / "target_vocab.json"
    languages = {piece[2:-2]: piece for piece in source if piece.startswith(">>") and piece.endswith("<<")}
    config = TokenizerConfig(
        kind="sentencepiece",
        files=("source.spm", "target.spm"),
        unknown="<unk>",
        mask="<pad>",
        before=(TARGET,) if languages else (),
        after=("</s>",),
        hidden=("</s>", "<unk>", "<pad>"),
        languages=languages,
    )
    return (config, _by_id(own_target), source) if own_target.exists() else (config, source, None)


def _tokenizer_settings(folder: Path) -> dict[str, Any]:
    path = folder / "tokenizer_config.json"
    return read_json(path, ModelError) if path.exists() else {}


def reads_bytes(folder: Path, config: Mapping[str, Any]) -> bool:
    """Whether the tokens of a model are the bytes of UTF-8, as in ByT5, whose tokenizer has no file."""
    return config["model_type"] in t5.KINDS and _BYTES in (
        config.get("tokenizer_class"),
        _tokenizer_settings(folder).get("tokenizer_class"),
    )


def _byte_segmenter() -> TokenizersSegmenter:
    """A segmenter into bytes, each written as one character (GPT-2's), which leaves bytes out that are no UTF-8."""
    library = tokenizers.Tokenizer(tokenizers.models.BPE({piece: number for number, piece in enumerate(_byte_pieces())}, []))
    library.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    decoders = tokenizers.decoders
    library.decoder = decoders.Sequence([decoders.ByteLevel(), decoders.Replace("\ufffd", "")])
    return TokenizersSegmenter(library, _FILE)


def _byte_pieces() -> list[str]:
    """The vocabulary of ByT5 without sentinels: three special pieces, then a piece for each byte."""
    shown = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    hidden = iter(range(0x100, 0x200))
    return ["<pad>", "</s>", "<unk>", *(chr(byte if byte in shown else next(hidden)) for byte in range(0x100))]


def _one_vocabulary(folder: Path, config_json: Mapping[str, Any], rows: int) -> tuple[TokenizerConfig, list[str]]:
    """Configuration and vocabulary of a tokenizer shared by source and target.

    Reads tokenizer.json, two files of byte-level BPE, or a SentencePiece model; bytes need no file. Raises ModelError if there is none.
    """
    kind = config_json["model_type"]
    config = TokenizerConfig(kind="tokenizers", files=(_FILE,), unknown="<unk>", mask=_MASK, after=("</s>",), hidden=(*_SPECIAL, _MASK))
    if reads_bytes(folder, config_json):
        pieces = _byte_pieces()
    elif (folder / _FILE).exists():
        pieces = _pieces_of(read_tokenizers_file(folder / _FILE))
    elif (folder / _T5_PIECES).exists():
        config = replace(config, kind="sentencepiece", files=(_T5_PIECES,))
        pieces = pieces_of(load_sentencepiece(folder / _T5_PIECES), folder / _T5_PIECES)
    elif kind == "bart" and all((folder / name).exists() for name in _CODES):
        pieces = _pieces_of(byte_level_bpe(*(folder / name for name in _CODES)))
    elif (folder / _PIECES).exists():
        config = replace(config, kind="sentencepiece", files=(_PIECES,))
        if (folder / "vocab.json").exists():  # M2M-100: the language tokens follow the vocabulary
            pieces = [*_by_id(folder / "vocab.json"), *(f"__{code}__" for code in M2M_100)]
        else:
            pieces = _fairseq_pieces(folder, rows)
    else:
        raise ModelError(f"{folder}: no tokenizer ({_FILE}, {_PIECES}, {_T5_PIECES}, or {' with '.join(_CODES)})")
    # A vocabulary without a mask token uses padding as mask.
    return config if _MASK in pieces else replace(config, mask="<pad>"), pieces


def _t5(own: TokenizerConfig, vocabulary: Sequence[str], purpose: Purpose) -> TokenizerConfig:
    """Return the configuration `own` with what the T5 family adds: sentinel tokens are left out of output text, and sources begin with an
    instruction. For MADLAD-400 the instruction is the token of the target language.
    """
    sentinels = [piece for piece in vocabulary if _SENTINEL.fullmatch(piece)]
    tokens = {match[1]: piece for piece in vocabulary if (match := _MADLAD_LANGUAGE.fullmatch(piece))}
    hidden = (*own.hidden, *sentinels, *tokens.values())
    if tokens and purpose.task == "translate":
        return replace(own, hidden=hidden, languages=tokens, instruction=TARGET)
    return replace(own, hidden=hidden, languages=purpose.names, instruction=purpose.instruction)


def _fairseq_pieces(folder: Path, rows: int) -> list[str]:
    """fairseq's vocabulary: four special pieces, the pieces of the SentencePiece model, language tokens, the mask."""
    pieces = [*_SPECIAL, *pieces_of(load_sentencepiece(folder / _PIECES), folder / _PIECES)[3:]]
    listed: list[str] = []
    for name, key in (("special_tokens_map.json", "additional_special_tokens"), ("tokenizer_config.json", "extra_special_tokens")):
        if not listed and (folder / name).exists():
            found = read_json(folder / name, ModelError).get(key) or []
            listed = [piece if isinstance(piece, str) else piece.get("content", "") for piece in found]
    known = MBART_50 if rows >= len(pieces) + len(MBART_50) else MBART_25
    return [*pieces, *([piece for piece in listed if _LANGUAGE.fullmatch(piece)] or known), _MASK]


def _multilingual(
    own: TokenizerConfig, vocabulary: Sequence[str], config: Mapping[str, Any], settings: Mapping[str, Any]
) -> TokenizerConfig:
    """`own` with language tokens: before source and target, or after the source in mBART-25 and NLLB's legacy behaviour."""
    languages = {piece.strip("_"): piece for piece in vocabulary if _LANGUAGE.fullmatch(piece)}
    own = replace(own, languages=languages, hidden=(*own.hidden, *languages.values()))
    if config["model_type"] == "mbart" and settings["decoder_start"] != config["eos_token_id"]:
        return replace(own, after=("</s>", SOURCE), start=TARGET)
    if settings.get("legacy_behaviour"):
        return replace(own, after=("</s>", SOURCE), forced=TARGET)
    return replace(own, before=(SOURCE,), forced=TARGET)


def _pair(
    languages: tuple[str, str], own: TokenizerConfig, vocabulary: Sequence[str], generation: Mapping[str, Any], settings: Mapping[str, Any]
) -> tuple[str, str]:
    """Source and target language: `languages`, else those of the settings. Raises UsageError if a bilingual model has others."""
    named = (
        str(settings.get("src_lang") or settings.get("source_lang") or ""),
        str(settings.get("tgt_lang") or settings.get("target_lang") or ""),
    )
    source, target = (asked or own_one for asked, own_one in zip(languages, named, strict=True))
    if not own.languages and all(named):
        if (short_code(source), short_code(target)) == (short_code(named[0]), short_code(named[1])):
            return named
        raise UsageError(f"this model translates only from {named[0]} to {named[1]}, not from {source} to {target}")
    names = {piece: name for name, piece in own.languages.items()}
    for token in (generation.get("forced_bos_token_id"), generation.get("decoder_start_token_id")):
        if not target and isinstance(token, int) and token < len(vocabulary):
            target = names.get(vocabulary[token], "")
    return source, target


def _segmenter(own: TokenizerConfig, folder: Path, pair: tuple[str, str], vocabulary: Sequence[str]) -> Segmenter:
    if own.kind == "tokenizers" and not (folder / _FILE).exists():
        return TokenizersSegmenter(byte_level_bpe(*(folder / name for name in _CODES)), _FILE)
    return make_segmenter(own, folder, *pair, vocabulary)


def _pieces_of(tokenizer: tokenizers.Tokenizer) -> list[str]:
    return pieces_by_id(tokenizer.get_vocab(with_added_tokens=True))


def _by_id(path: Path) -> list[str]:
    return pieces_by_id(read_json(path, ModelError))
