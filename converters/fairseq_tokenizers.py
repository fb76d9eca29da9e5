"""Tokenizers of fairseq models, made from the dictionaries and subword models in the checkpoint's folder."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from converters.fairseq_dictionaries import MASK, PRETRAINED, SPECIAL, find_dictionary, language_tokens, read_dictionary, with_languages
from converters.fairseq_settings import language_token_sources
from converters.vocabularies import byte_level_bpe, fill_unused
from specdec_cli.errors import ModelError
from specdec_cli.files import read_json
from specdec_cli.text.tokenize.converted import SOURCE, TARGET, ConvertedTokenizer, Kind, TokenizerConfig, make_segmenter
from specdec_cli.text.tokenize.segmenters import Segmenter, TokenizersSegmenter

_PIECES = ("sentencepiece.bpe.model", "sentencepiece.model", "spm.model", "spm.128k.model")
_CODES = ("bpecodes", "bpe.codes", "bpe_codes", "code", "codes")
_BYTES = ("encoder.json", "vocab.bpe")
# Names of the two sides in tasks without languages, such as summarisation.
_NO_LANGUAGES = ("source", "target")


def read_tokenizer(folder: Path, settings: Mapping[str, Any], languages: tuple[str, str], rows: tuple[int, int]) -> ConvertedTokenizer:
    """The tokenizer of the fairseq model in `folder` for the source and target `languages` (empty: those in its settings).

    `rows` are the numbers of rows of the source and target embeddings; rows without a piece get a placeholder piece. Raises
    ModelError for missing or malformed files, and UsageError for a language that is missing or unknown.
    """
    own = [str(settings.get(f"{side}_lang") or "") for side in ("source", "target")]
    files = [find_dictionary(folder, names, settings) for names in zip(languages, own, strict=True)]
    tokens = language_tokens(folder, settings)
    vocabularies = [with_languages(read_dictionary(path), tokens.values(), settings) for path in files]
    config = _frame(_subwords(folder), tokens, settings)
    if config.kind == "tokenizers":
        vocabularies = [_byte_pieces(folder, pieces) for pieces in vocabularies]
    source, target = (fill_unused(pieces, count) for pieces, count in zip(vocabularies, rows, strict=True))
    config = replace(config, mask=MASK if MASK in target else "<pad>")
    pair = [given or ("" if name in _NO_LANGUAGES else name) for given, name in zip(languages, own, strict=True)]
    segmenter = _segmenter(config, folder, pair, [*source, *target])
    return ConvertedTokenizer(config, segmenter, target, None if source == target else source, pair[0], pair[1], folder)


def _subwords(folder: Path) -> TokenizerConfig:
    """The subword model in `folder`: SentencePiece, BPE codes, or byte-level BPE of GPT-2. Raises ModelError if there is none."""
    plain = partial(TokenizerConfig, unknown="<unk>", mask="<pad>", after=("</s>",), hidden=(*SPECIAL, MASK))
    kinds: Sequence[tuple[Kind, Sequence[str]]] = (("sentencepiece", _PIECES), ("moses-bpe", _CODES))
    for kind, names in kinds:
        found = next((name for name in names if (folder / name).exists()), None)
        if found is not None:
            return plain(kind, (found,))
    if all((folder / name).exists() for name in _BYTES):
        # BART puts <s> before every source and target.
        return plain("tokenizers", ("tokenizer.json",), before=("<s>",), forced="<s>")
    raise ModelError(f"{folder}: no subwords ({_PIECES[0]}, {_CODES[0]} or {' with '.join(_BYTES)}, or another of their usual names)")


def _frame(config: TokenizerConfig, tokens: Mapping[str, str], settings: Mapping[str, Any]) -> TokenizerConfig:
    """`config` with language tokens where the task puts them: after the source and as decoder start, or before both sides."""
    if not tokens:
        return config
    config = replace(config, languages=tokens, hidden=(*config.hidden, *tokens.values()))
    if settings["task"] == PRETRAINED:
        return replace(config, before=(), after=("</s>", SOURCE), start=TARGET, forced=None)
    of_source, of_target = language_token_sources(settings)
    before = (SOURCE,) if of_source == "src" else (TARGET,) if of_source else ()
    return replace(config, before=before, forced=TARGET if of_target else None)


def _byte_pieces(folder: Path, pieces: Sequence[str]) -> list[str]:
    """The byte-level BPE pieces in the order of the dictionary, whose entries are the ids of pieces in encoder.json."""
    numbers = {str(number): piece for piece, number in read_json(folder / _BYTES[0], ModelError).items()}
    return [numbers.get(piece, piece) for piece in pieces]


def _segmenter(config: TokenizerConfig, folder: Path, pair: Sequence[str], pieces: Sequence[str]) -> Segmenter:
    if config.kind == "tokenizers":
        return TokenizersSegmenter(byte_level_bpe(folder / _BYTES[0], folder / _BYTES[1]), config.files[0])
    return make_segmenter(config, folder, pair[0], pair[1], pieces)
