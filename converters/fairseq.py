"""Conversion of fairseq models (transformer, bart, mbart) to bundles; fairseq need not be installed."""

import argparse
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from converters.checkpoints import as_float, check_sizes, find_weights, read_pickle
from converters.conversion import Conversion
from converters.layout import build_transformer, fairseq_sinusoids, keep_decoder_layers
from converters.vocabularies import byte_level_bpe, fill_unused
from specdec_cli.errors import ModelError
from specdec_cli.files import read_json
from specdec_cli.model.bundle import Bundle, BundleInfo
from specdec_cli.model.bundle_info import Task
from specdec_cli.model.choices import SUPPRESSED
from specdec_cli.model.config import TransformerConfig
from specdec_cli.text.tokenize.converted import SOURCE, TARGET, ConvertedTokenizer, Kind, TokenizerConfig, make_segmenter
from specdec_cli.text.tokenize.segmenters import Segmenter, TokenizersSegmenter

ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "swish": "silu"}
TASKS = ("translation", "translation_from_pretrained_bart", "translation_multi_simple_epoch", "denoising")

_ARCHITECTURE = re.compile(r"(transformer|m?bart)(?!_lm)(_\w+)?")
_PARTS = ("encoder", "decoder", "quant_noise")
# Settings that must be equal for encoder and decoder, with their names for messages.
_EQUAL = {
    "attention_heads": "attention heads",
    "ffn_embed_dim": "feed-forward sizes",
    "embed_dim": "widths",
    "normalize_before": "positions of the layer norm",
}
# Options of fairseq that specdec does not support.
_MUST_BE_OFF = (
    "adaptive_input",
    "adaptive_softmax_cutoff",
    "base_layers",
    "char_inputs",
    "character_embeddings",
    "cross_self_attention",
    "decoder_add_adapters",
    "decoder_layers_to_keep",
    "decoder_recurrent_stacking",
    "decoder_xformers_att_config",
    "encoder_add_adapters",
    "encoder_layers_to_keep",
    "encoder_recurrent_stacking",
    "encoder_xformers_att_config",
    "lang_tok_replacing_bos_eos",
    "merge_src_tgt_embed",
    "no_cross_attention",
    "no_decoder_final_norm",
    "no_token_positional_embeddings",
    "prepend_bos",
    "scale_attn",
    "scale_fc",
    "scale_heads",
    "scale_resids",
    "use_factorized_embedding",
)
# fairseq's defaults, for settings that old checkpoints do not store.
_DEFAULTS: Mapping[str, Any] = {
    "task": "translation",
    "arch": "transformer",
    "activation_fn": "relu",
    "encoder_layers": 6,
    "decoder_layers": 6,
    "encoder_embed_dim": 512,
    "encoder_ffn_embed_dim": 2048,
    "encoder_attention_heads": 8,
    "decoder_attention_heads": 8,
    "encoder_normalize_before": False,
    "decoder_normalize_before": False,
    "max_source_positions": 1024,
    "max_target_positions": 1024,
}


def read_settings(checkpoint: Mapping[str, Any]) -> dict[str, Any]:
    """All settings of a fairseq checkpoint by their flat names (`arch`, `task`, `encoder_layers`, ...), defaults included.

    Reads the formats of old checkpoints (an argparse.Namespace) and new ones (nested dictionaries). Raises ModelError if the
    checkpoint has no settings.
    """
    if checkpoint.get("args") is not None:
        found = _plain(checkpoint["args"])
    else:
        parts = _plain(checkpoint.get("cfg"))
        task, model = _flat(_plain(parts.get("task"))), _flat(_plain(parts.get("model")))
        names = {"arch": model.get("_name"), "task": task.get("_name")}
        found = task | {name: value for name, value in names.items() if value} | model
    if not found:
        raise ModelError("no settings (args, or cfg with a model)")
    given = {name: value for name, value in found.items() if value is not None}
    settings = {**_DEFAULTS, **given}
    for name in ("embed_dim", "ffn_embed_dim"):
        settings.setdefault(f"decoder_{name}", settings[f"encoder_{name}"])
    return settings


def language_token_sources(settings: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """The language tokens of a multilingual task: that before the source, and that before the target.

    Each is "src" (token of the source language), "tgt" (token of the target language) or None (no token).
    """
    default = (settings.get("encoder_langtok"), "tgt" if settings.get("decoder_langtok") else None)
    of_source, of_target = (settings.get("langtoks") or {}).get("main", default)
    return of_source, of_target


def check_supported(settings: Mapping[str, Any]) -> None:
    """Raise ModelError, naming each of them, if settings of a fairseq checkpoint are not supported by specdec."""
    problems = []
    if not _ARCHITECTURE.fullmatch(settings["arch"]):
        problems.append(f"architecture {settings['arch']!r} (supported: transformer, bart and mbart of any size)")
    if settings["task"] not in TASKS:
        problems.append(f"task {settings['task']!r} (supported: {', '.join(TASKS)})")
    if settings["activation_fn"] not in ACTIVATIONS:
        problems.append(f"activation_fn {settings['activation_fn']!r} (supported: {', '.join(ACTIVATIONS)})")
    for name, what in _EQUAL.items():
        encoder, decoder = settings[f"encoder_{name}"], settings[f"decoder_{name}"]
        if encoder != decoder:
            problems.append(f"{what} that differ between encoder ({encoder}) and decoder ({decoder})")
    width = settings["decoder_embed_dim"]
    inner = [name for name in ("decoder_input_dim", "decoder_output_dim") if settings.get(name, width) != width]
    problems += [f"{name}={settings[name]} with decoder_embed_dim={width}" for name in inner]
    problems += [f"{name}={settings[name]}" for name in _MUST_BE_OFF if settings.get(name)]
    if any(spec != "main" for spec in settings.get("langtoks_specs") or ()):
        problems.append(f"langtoks_specs={settings['langtoks_specs']}")
    of_source, of_target = language_token_sources(settings)
    if of_source not in (None, "src", "tgt") or of_target not in (None, "tgt"):
        problems.append(f"langtoks {of_source} and {of_target}")
    if problems:
        raise ModelError(f"not supported: {'; '.join(problems)}")


def _plain(values: Any) -> dict[str, Any]:
    if isinstance(values, argparse.Namespace):
        return dict(vars(values))
    return {str(name): value for name, value in values.items()} if isinstance(values, Mapping) else {}


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """Flatten nested parts: `encoder: {layers: 6}` becomes `encoder_layers: 6`."""
    flat = {name: value for name, value in values.items() if name not in _PARTS}
    return flat | {f"{part}_{name}": value for part in _PARTS for name, value in _plain(values.get(part)).items()}


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


OUTPUT = "decoder.output_projection.weight"
PADDING = 1
_MAX_POSITIONS = 2**16
OFFSET = PADDING + 1
"""The row (from 0) of a fairseq position table that belongs to the first token of a sentence."""

# Entries that are not weights of the encoder or decoder.
_IGNORED = re.compile(r".*\.version|.*embed_positions\.(_float_tensor|weights)|classification_heads\..*")
_FUSED = re.compile(r"(.*)\.in_proj_(weight|bias)")
_OLD_NORM = re.compile(r"((encoder|decoder)\.layers\.\d+)\.layer_norms\.(\d)\.(weight|bias)")
_NORMS = {
    "encoder": ("self_attn_layer_norm", "final_layer_norm"),
    "decoder": ("self_attn_layer_norm", "encoder_attn_layer_norm", "final_layer_norm"),
}


def read_weights(stored: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Tensor]:
    """The weights of a fairseq checkpoint, vectors as float32, under the names of fairseq's current version.

    `stored` are the entries of the checkpoint. A position table (positions + 2, width), in which row 2 belongs to the first token,
    is added for encoder and decoder where positions are sinusoidal. An output projection equal to the target embedding is left out.
    Raises ModelError for missing weights and for an invalid number of positions.
    """
    weights: dict[str, Tensor] = {}
    tensors = {name: value for name, value in stored.items() if isinstance(value, Tensor) and not _IGNORED.fullmatch(name)}
    for name, value in as_float(tensors).items():
        weights |= _current(name, value)
    learned = [f"{side}.embed_positions.weight" for side in ("encoder", "decoder") if settings.get(f"{side}_learned_pos")]
    absent = [name for name in ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight", *learned) if name not in weights]
    if absent:
        raise ModelError(f"no {' and no '.join(absent)}")
    _add_positions(weights, settings)
    output = weights.get(OUTPUT)
    if output is not None and same(output, weights["decoder.embed_tokens.weight"]):
        del weights[OUTPUT]
    return weights


def same(first: Tensor, second: Tensor) -> bool:
    """Whether two tensors have equal shapes and values."""
    return first.shape == second.shape and bool((first == second).all())


def _current(name: str, value: Tensor) -> dict[str, Tensor]:
    """A weight under its current name; a fused query, key and value projection is split into three."""
    fused, norm = _FUSED.fullmatch(name), _OLD_NORM.fullmatch(name)
    if fused:
        return {f"{fused[1]}.{part}_proj.{fused[2]}": chunk for part, chunk in zip("qkv", value.chunk(3), strict=True)}
    if norm and int(norm[3]) < len(_NORMS[norm[2]]):
        return {f"{norm[1]}.{_NORMS[norm[2]][int(norm[3])]}.{norm[4]}": value}
    return {OUTPUT if name == "decoder.embed_out" else name: value}


def _add_positions(weights: dict[str, Tensor], settings: Mapping[str, Any]) -> None:
    """Add sinusoidal position tables where none is learned, and cut both tables to the shorter one.

    A TransformerConfig has one number of positions for both sides. Raises ModelError for an invalid number.
    """
    width = weights["encoder.embed_tokens.weight"].shape[1]
    for name in ("max_source_positions", "max_target_positions"):
        if not isinstance(settings[name], int) or not 1 <= settings[name] <= _MAX_POSITIONS:
            raise ModelError(f"{name} must be an integer from 1 to {_MAX_POSITIONS}, not {settings[name]!r}")
    tables = {}
    for side, positions in (("encoder", settings["max_source_positions"]), ("decoder", settings["max_target_positions"])):
        name = f"{side}.embed_positions.weight"
        tables[name] = weights[name] if settings.get(f"{side}_learned_pos") else fairseq_sinusoids(positions + OFFSET, width, PADDING)
    rows = min(map(len, tables.values()))
    weights |= {name: table[:rows] for name, table in tables.items()}


_FILES = "*.pt"
# The defaults of fairseq-generate; a checkpoint does not store generation settings.
_GENERATION: Mapping[str, Any] = {"min_length": 1, "forced_end": True, "beam_size": 5, "beam_stop": "fairseq"}


def from_fairseq(
    path: Path, source_language: str = "", target_language: str = "", task: Task | None = None, decoder_layers: Sequence[int] | None = None
) -> Conversion:
    """Convert the fairseq checkpoint `path`, or the only one in the folder `path`; dictionary and subword files lie beside it.

    An empty language stands for the one in the checkpoint; a `task` of None means "translate". Of the decoder, only the layers
    `decoder_layers` (from 0; default: all) are kept. Raises ModelError for unreadable or missing files and, naming each of them, for
    settings that are not supported, and UsageError for an unknown language.
    """
    checkpoint = find_weights(path, path.glob(_FILES), "a checkpoint of fairseq (*.pt)")
    settings, shape, weights = _read(checkpoint)
    if decoder_layers is not None:
        shape, weights = keep_decoder_layers(shape, weights, decoder_layers)
    rows = (shape.source_size, shape.vocabulary_size)
    tokenizer = read_tokenizer(checkpoint.parent, settings, (source_language, target_language), rows)
    pieces = (tokenizer.source_size, len(tokenizer))
    if pieces != rows:
        raise ModelError(f"{checkpoint}: {pieces} pieces for source and target, but the embeddings have {rows} rows")
    if tokenizer.special_tokens.start is not None:
        shape = replace(shape, decoder_start=tokenizer.special_tokens.start)
    source, target = tokenizer.languages
    info = BundleInfo(task=task or "translate", source_language=source, target_language=target, **_GENERATION)
    verifier, parts = build_transformer(shape, weights, strict=True)
    return Conversion(Bundle(info, tokenizer, verifier), parts=parts)


def is_fairseq(path: Path) -> bool:
    """Whether `path` is a `*.pt` file or a folder with one, and a dictionary file (`*dict*.txt`) lies beside that file."""
    found = [path] if path.is_file() and path.match(_FILES) else list(path.glob(_FILES))
    return bool(found) and any(found[0].parent.glob("*dict*.txt"))


def _read(checkpoint: Path) -> tuple[dict[str, Any], TransformerConfig, dict[str, Tensor]]:
    """Settings, shape and weights. Raises ModelError."""
    stored = read_pickle(checkpoint, mapped=True)
    if not isinstance(stored, dict) or not isinstance(stored.get("model"), dict):
        raise ModelError(f"{checkpoint}: not a fairseq checkpoint (no weights under 'model')")
    check_sizes(checkpoint, stored["model"])
    try:
        settings = read_settings(stored)
        check_supported(settings)
        weights = read_weights(stored["model"], settings)
        weights["output_bias"] = torch.zeros(len(weights["decoder.embed_tokens.weight"]))
        weights["output_bias"][PADDING] = SUPPRESSED
        return settings, _shape(settings, weights), weights
    except ModelError as error:
        raise ModelError(f"{checkpoint}: {error}") from error


def _shape(settings: Mapping[str, Any], weights: Mapping[str, Tensor]) -> TransformerConfig:
    """The shape of the model, from its settings and weights."""
    source, target = (weights[f"{side}.embed_tokens.weight"] for side in ("encoder", "decoder"))
    return TransformerConfig(
        vocabulary_size=len(target),
        source_vocabulary_size=0 if len(source) == len(target) else len(source),
        width=target.shape[1],
        feed_forward=settings["encoder_ffn_embed_dim"],
        heads=settings["encoder_attention_heads"],
        encoder_layers=settings["encoder_layers"],
        decoder_layers=settings["decoder_layers"],
        norm="pre" if settings["encoder_normalize_before"] else "post",
        activation=ACTIVATIONS[settings["activation_fn"]],  # type: ignore[arg-type]
        positions="learned",
        position_offset=OFFSET,
        max_positions=len(weights["decoder.embed_positions.weight"]) - OFFSET,
        embedding_scale=not settings.get("no_scale_embedding"),
        embedding_norm=bool(settings.get("layernorm_embedding")),
        shared_embeddings=same(source, target),
        tied_output=OUTPUT not in weights,
        output_bias=True,
        padding=PADDING,
        eos=SPECIAL.index("</s>"),
        decoder_start=SPECIAL.index("</s>"),
    )
