"""Small transformers models stored as checkpoints of fairseq, with dictionaries and subword files."""

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import tokenizers
import torch
import transformers
from torch import Tensor

from converters.languages import MBART_25, MBART_50
from specdec_cli.text.tokenize.sentencepiece import load_sentencepiece
from tests.conftest import make_lines
from tests.converters import huggingface
from tests.converters.huggingface import SHAPE, SPECIAL, Made, train

COMMON: dict[str, Any] = {
    "encoder_embed_dim": SHAPE["d_model"],
    "decoder_embed_dim": SHAPE["d_model"],
    "encoder_ffn_embed_dim": SHAPE["encoder_ffn_dim"],
    "decoder_ffn_embed_dim": SHAPE["decoder_ffn_dim"],
    "encoder_layers": SHAPE["encoder_layers"],
    "decoder_layers": SHAPE["decoder_layers"],
    "encoder_attention_heads": SHAPE["encoder_attention_heads"],
    "decoder_attention_heads": SHAPE["decoder_attention_heads"],
    "max_source_positions": SHAPE["max_position_embeddings"],
    "max_target_positions": SHAPE["max_position_embeddings"],
    "encoder_normalize_before": False,
    "decoder_normalize_before": False,
    "encoder_layerdrop": 0.1,
    "quant_noise_pq": 0,
    "adaptive_softmax_cutoff": None,
    "dropout": 0.3,
    "optimizer": "adam",
}
LEARNED = {"encoder_learned_pos": True, "decoder_learned_pos": True, "layernorm_embedding": True, "activation_fn": "gelu"}


def transformer(folder: Path, joined: bool = True, steps: int = 150) -> Made:
    """FSMT, fairseq's transformer: post-norm, sinusoids, Moses and BPE codes; one dictionary, or two of different sizes."""
    pieces = write_codes(folder / "bpecodes")
    source, target = (pieces, pieces) if joined else ([*pieces, "z", "z</w>"], [*reversed(pieces), "madeupword0000"])
    write_dictionary(folder / "dict.en.txt", map(_continued, source))
    write_dictionary(folder / "dict.de.txt", map(_continued, target))
    config = transformers.FSMTConfig(
        langs=["en", "de"],
        src_vocab_size=len(SPECIAL) + len(source) + 3,
        tgt_vocab_size=len(SPECIAL) + len(target) + 3,
        tie_word_embeddings=joined,
        scale_embedding=True,
        **SHAPE,
    )
    model = transformers.FSMTForConditionalGeneration(config)
    for side in (model.model.encoder, model.model.decoder):
        side.embed_positions.requires_grad_(False)
    train(model, after=[2], steps=steps)
    settings = {"arch": "transformer_iwslt_de_en", "task": "translation", "source_lang": "en", "target_lang": "de"}
    write_checkpoint(folder / "checkpoint_best.pt", state_of(model), settings | COMMON)
    for name, table in (("vocab-src.json", source), ("vocab-tgt.json", target)):
        (folder / name).write_text(json.dumps({piece: number for number, piece in enumerate([*SPECIAL, *table])}))
    files = [str(folder / name) for name in ("vocab-src.json", "vocab-tgt.json", "bpecodes")]
    tokenizer = transformers.FSMTTokenizer(["en", "de"], *files)
    return Made(folder, model, lambda text: list(tokenizer(text).input_ids))


def bart(folder: Path) -> Made:
    """BART: learned positions, normalised embeddings, a dictionary of the numbers of GPT-2's pieces."""
    made = huggingface.bart(folder)
    pieces = json.loads((folder / "vocab.json").read_text())
    own = sorted(set(pieces) - {*SPECIAL, "<mask>"}, key=lambda piece: -pieces[piece])  # these numbers are not the ids
    (folder / "encoder.json").write_text(json.dumps({piece: number for number, piece in enumerate(own)}))
    (folder / "merges.txt").rename(folder / "vocab.bpe")
    in_order = sorted(set(pieces) - set(SPECIAL), key=lambda piece: pieces[piece])
    write_dictionary(folder / "dict.txt", (piece if piece == "<mask>" else str(own.index(piece)) for piece in in_order))
    settings = {"arch": "bart_base", "task": "translation", "source_lang": "source", "target_lang": "target", "no_scale_embedding": True}
    write_checkpoint(folder / "model.pt", state_of(made.model), settings | COMMON | LEARNED)
    return made


def mbart(folder: Path) -> Made:
    """mBART-25, fine-tuned: pre-norm; the task adds the languages to the dictionary."""
    made = huggingface.mbart(folder)
    settings = {"arch": "mbart_base", "task": "translation_from_pretrained_bart", "langs": ",".join(MBART_25)}
    return _multilingual(made, settings | {"source_lang": "en_XX", "target_lang": "ro_RO", "prepend_bos": False})


def mbart_50(folder: Path) -> Made:
    """mBART-50: many languages, listed in a file."""
    made = huggingface.mbart_50(folder)
    (folder / "ML50_langs.txt").write_text("\n".join(MBART_50))
    settings = {"arch": "mbart_base", "task": "translation_multi_simple_epoch", "lang_dict": "/data/ML50_langs.txt", "langs": None}
    places = {"encoder_langtok": "src", "decoder_langtok": True, "lang_tok_style": "mbart", "langtoks": None, "langtoks_specs": ["main"]}
    return _multilingual(made, settings | places)


MAKERS: dict[str, Callable[[Path], Made]] = {
    "transformer, one dictionary": transformer,
    "transformer, two dictionaries": lambda folder: transformer(folder, joined=False),
    "BART": bart,
    "mBART": mbart,
    "mBART-50": mbart_50,
}


def write_checkpoint(path: Path, state: Mapping[str, Tensor], settings: Mapping[str, Any]) -> None:
    """Write a checkpoint in the format of fairseq 0.9."""
    beside = {"extra_state": {"epoch": 3, "train_iterator": {"epoch": 3}}, "optimizer_history": [{"num_updates": 9}]}
    torch.save({"args": argparse.Namespace(**settings), "model": dict(state), **beside}, path)


def write_codes(path: Path) -> list[str]:
    """Train BPE codes, write them to `path` with counts as fastBPE does, and return the pieces; `</w>` ends a word."""
    trained = tokenizers.Tokenizer(tokenizers.models.BPE(end_of_word_suffix="</w>"))
    trained.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=90, end_of_word_suffix="</w>", show_progress=False)
    trained.train_from_iterator(make_lines(300), trainer)
    merges = json.loads(trained.to_str())["model"]["merges"]
    path.write_text("".join(f"{' '.join(pair)} {900 - place}\n" for place, pair in enumerate(merges)))
    return sorted(trained.get_vocab())


def write_dictionary(path: Path, pieces: Any) -> None:
    path.write_text("".join(f"{piece} {1000 - place}\n" for place, piece in enumerate(pieces)))


def state_of(model: Any) -> dict[str, Tensor]:
    """A model's weights under fairseq's names, and the other entries that fairseq stores."""
    state = {name.removeprefix("model."): value.clone() for name, value in model.state_dict().items()}
    head = state.pop("lm_head.weight", None)
    if head is not None:
        state["decoder.output_projection.weight"] = head
    for name in ("shared.weight", "final_logits_bias"):
        state.pop(name, None)
    if "fsmt" in model.config.model_type:
        for side in ("encoder", "decoder"):
            del state[f"{side}.embed_positions.weight"]
            state[f"{side}.embed_positions._float_tensor"] = torch.zeros(1)
    return state | {"encoder.version": torch.tensor([3.0]), "decoder.version": torch.tensor([3.0])}


def _multilingual(made: Made, settings: Mapping[str, Any]) -> Made:
    processor = load_sentencepiece(made.folder / "sentencepiece.bpe.model")
    write_dictionary(made.folder / "dict.txt", (processor.IdToPiece(i) for i in range(3, processor.GetPieceSize())))
    pre_norm = {"encoder_normalize_before": True, "decoder_normalize_before": True}
    write_checkpoint(made.folder / "model.pt", state_of(made.model), COMMON | LEARNED | pre_norm | dict(settings))
    return made


def _continued(piece: str) -> str:
    """fairseq's form of a piece: @@ ends a piece that is not the last of its word."""
    return piece.removesuffix("</w>") if piece.endswith("</w>") or piece.startswith("madeup") else f"{piece}@@"


def fused(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights as fairseq stored them in 2018: q, k and v in one matrix, norms with numbers."""
    norms: dict[str, Sequence[str]] = {
        "encoder": ("self_attn_layer_norm", "final_layer_norm"),
        "decoder": ("self_attn_layer_norm", "encoder_attn_layer_norm", "final_layer_norm"),
    }
    old: dict[str, Tensor] = {}
    for name, value in state.items():
        base, _, kind = name.rpartition(".")
        if base.endswith(".q_proj"):
            stem = base.removesuffix(".q_proj")
            old[f"{stem}.in_proj_{kind}"] = torch.cat([state[f"{stem}.{part}_proj.{kind}"] for part in "qkv"])
        elif base.partition(".layers.")[2].partition(".")[2] in norms[name.partition(".")[0]]:
            stem, norm = base.rsplit(".", 1)
            old[f"{stem}.layer_norms.{norms[name.partition('.')[0]].index(norm)}.{kind}"] = value
        elif not base.endswith((".k_proj", ".v_proj")):
            old[name] = value
    return old
