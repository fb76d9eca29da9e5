"""Small transformers models stored as Marian models, with vocabularies."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy
import sentencepiece
import torch
import transformers
import yaml
from torch import Tensor

from converters.layout import tensor2tensor_sinusoids
from specdec_cli.text.tokenize.sentencepiece import load_sentencepiece
from tests.conftest import make_lines
from tests.converters import huggingface
from tests.converters.huggingface import SHAPE, Made, train

POST_NORM: dict[str, Any] = {
    "type": "transformer",
    "dim-emb": SHAPE["d_model"],
    "enc-depth": SHAPE["encoder_layers"],
    "dec-depth": SHAPE["decoder_layers"],
    "transformer-dim-ffn": SHAPE["encoder_ffn_dim"],
    "transformer-heads": SHAPE["encoder_attention_heads"],
    "transformer-ffn-activation": "swish",
    "transformer-ffn-depth": 2,
    "transformer-decoder-autoreg": "self-attention",
    "transformer-no-projection": False,
    "transformer-preprocess": "",
    "transformer-postprocess": "dan",
    "transformer-postprocess-emb": "d",
    "transformer-postprocess-top": "",
    "transformer-tied-layers": [],
    "transformer-train-position-embeddings": False,
    "transformer-guided-alignment-layer": "last",
    "transformer-depth-scaling": True,
    "tied-embeddings-all": True,
    "layer-normalization": False,
    "right-left": False,
    "ulr": False,
    "ulr-dim-emb": 0,
    "lemma-dim-emb": 0,
    "version": "v1.9.0",
}
PRE_NORM = POST_NORM | {
    "transformer-ffn-activation": "relu",
    "transformer-preprocess": "n",
    "transformer-postprocess": "da",
    "transformer-postprocess-emb": "nd",
    "transformer-postprocess-top": "n",
}


def opus_mt(folder: Path, two_vocabularies: bool = False) -> Made:
    """OPUS-MT: vocabularies in YAML, SentencePiece models, and decoder.yml, which names all files."""
    made = huggingface.marian(folder, two_vocabularies)
    _as_marian_has_it(made.model)
    train(made.model, after=[0], steps=40)
    _forget_start(made.model)
    names = ("vocab.json", "target_vocab.json")[: 1 + two_vocabularies]
    pieces = [_without_fillers(json.loads((folder / name).read_text())) for name in names]
    listed = [f"opus.{side}.vocab.yml" for side in ("src", "trg")] if two_vocabularies else ["opus.spm32k-spm32k.vocab.yml"] * 2
    for name, table in zip(listed, pieces, strict=False):
        write_vocabulary(folder / name, table)
    arrays = arrays_of(made.model, [len(table) for table in pieces])
    write_model(folder / "opus.npz", arrays, POST_NORM | {"dim-vocabs": [len(pieces[0]), len(pieces[-1])]})
    (folder / "decoder.yml").write_text(yaml.safe_dump({"models": ["opus.npz"], "vocabs": listed, "beam-size": 6, "normalize": 1}))
    return made


def pre_norm(folder: Path) -> Made:
    """Pre-norm, with norms after the embeddings and at the top (the network of mBART), and Marian's own SentencePiece vocabulary."""
    prefix = folder / "vocab"
    sentencepiece.SentencePieceTrainer.Train(
        sentence_iterator=iter(make_lines(300)), model_prefix=str(prefix), vocab_size=70, eos_id=0, unk_id=1, bos_id=-1, minloglevel=2
    )
    (folder / "vocab.model").rename(folder / "vocab.spm")
    processor = load_sentencepiece(folder / "vocab.spm")
    size = processor.GetPieceSize()
    config = transformers.MBartConfig(
        vocab_size=size + 1,
        pad_token_id=size,
        bos_token_id=None,
        eos_token_id=0,
        decoder_start_token_id=size,
        forced_eos_token_id=None,
        activation_function="relu",
        scale_embedding=True,
        **SHAPE,
    )
    model = transformers.MBartForConditionalGeneration(config)
    _as_marian_has_it(model)
    train(model, after=[0])
    _forget_start(model)
    model.generation_config.bad_words_ids = [[size]]
    write_model(folder / "model.npz", arrays_of(model, [size]), PRE_NORM | {"dim-vocabs": [size, size]})
    return Made(folder, model, lambda text: [*processor.EncodeAsIds(text), 0])


MAKERS: dict[str, Callable[[Path], Made]] = {
    "OPUS-MT": opus_mt,
    "OPUS-MT, two vocabularies": lambda folder: opus_mt(folder, two_vocabularies=True),
    "pre-norm": pre_norm,
}


def write_model(path: Path, arrays: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    text: Any = numpy.frombuffer(yaml.safe_dump(dict(settings)).encode() + b"\0", dtype=numpy.int8)
    with path.open("wb") as stream:
        numpy.savez(stream, **arrays, **{"special:model.yml": text})


def write_vocabulary(path: Path, pieces: list[str]) -> None:
    """Write a vocabulary as marian-vocab does: some pieces in quotes, SentencePiece's space escaped in some."""
    special = {"</s>": '"</s>"', "<unk>": '"<unk>"', "▁": '"\\u2581"'}
    path.write_text("".join(f"{special.get(piece, piece)}: {number}\n" for number, piece in enumerate(pieces)))


def arrays_of(model: Any, sizes: list[int]) -> dict[str, numpy.ndarray[Any, Any]]:
    """A model's weights under Marian's names: matrices (in, out), vectors (1, n), embeddings of `sizes` rows without padding."""
    state = {name.removeprefix("model."): value for name, value in model.state_dict().items()}
    pre = "_pre" if model.config.model_type == "mbart" else ""
    arrays: dict[str, Tensor] = {}
    for name, value in state.items():
        part = name.split(".")
        if part[1:2] == ["layers"]:
            arrays[f"{part[0]}_l{int(part[2]) + 1}_{_in_layer(part[3:], pre)}"] = value.T
        elif part[1:2] in (["layernorm_embedding"], ["layer_norm"]):
            where = "emb_ln_{}_pre" if part[1] == "layernorm_embedding" else "top_ln_{}"
            arrays[f"{part[0]}_{where.format('scale' if part[-1] == 'weight' else 'bias')}"] = value
    bias = state["final_logits_bias"][0, : sizes[-1]]
    if len(sizes) == 1:
        arrays["Wemb"] = state["shared.weight"][: sizes[0]]
    else:
        arrays |= {f"{side}_Wemb": state[f"{side}.embed_tokens.weight"][:n] for side, n in zip(("encoder", "decoder"), sizes, strict=True)}
        arrays["decoder_ff_logit_out_W"] = state["lm_head.weight"][: sizes[1]].T
    arrays["decoder_ff_logit_out_b"] = bias
    return {name: (value if value.dim() == 2 else value[None]).numpy().copy() for name, value in arrays.items()}


def _in_layer(part: list[str], pre: str) -> str:
    block = {"self_attn": "self", "encoder_attn": "context"}
    norms = {"self_attn_layer_norm": "self_Wo", "encoder_attn_layer_norm": "context_Wo", "final_layer_norm": "ffn_ffn"}
    weight = part[-1] == "weight"
    if part[0] in block:
        return f"{block[part[0]]}_{'W' if weight else 'b'}{part[1][0]}"
    if part[0] in norms:
        return f"{norms[part[0]]}_ln_{'scale' if weight else 'bias'}{pre}"
    return f"ffn_{'W' if weight else 'b'}{part[0][2]}"


def _as_marian_has_it(model: Any) -> None:
    """Give the model Marian's sinusoids, which differ from those of transformers."""
    for side in (model.model.encoder, model.model.decoder):
        table, offset = side.embed_positions.weight, len(side.embed_positions.weight) - SHAPE["max_position_embeddings"]
        with torch.no_grad():
            table[offset:] = tensor2tensor_sinusoids(SHAPE["max_position_embeddings"], SHAPE["d_model"])
        table.requires_grad_(False)


def _forget_start(model: Any) -> None:
    """Set the embedding of the decoder start to zeros, and the output bias to distinct values."""
    with torch.no_grad():
        for table in {model.get_input_embeddings(), model.model.encoder.embed_tokens, model.model.decoder.embed_tokens}:
            table.weight[model.config.pad_token_id] = 0
        model.final_logits_bias.normal_(std=0.1)


def _without_fillers(ids: Mapping[str, int]) -> list[str]:
    return [piece for piece in sorted(ids, key=lambda piece: ids[piece]) if piece != "<pad>" and not piece.startswith("filler")]
