"""Small models of each architecture of transformers, trained for seconds and saved as users have them."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import sentencepiece
import tokenizers
import torch
import transformers

from converters.languages import MBART_25, MBART_50
from specdec_cli.model.bundle_info import Task
from tests.conftest import make_lines

SHAPE: dict[str, Any] = {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "max_position_embeddings": 256,
    "dropout": 0.0,
    "attention_dropout": 0.0,
    "activation_dropout": 0.0,
    "init_std": 0.15,
}
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
_PIECES = 60


@dataclass
class Made:
    """A saved model: the model, transformers' encoding of a text, its languages in specdec, and arguments of generate()."""

    folder: Path
    model: Any
    encode: Callable[[str], list[int]]
    languages: tuple[str, str] = ("", "")
    generation: dict[str, Any] = field(default_factory=dict)
    task: Task | None = None


def train(model: Any, first: Sequence[int] = (), before: Sequence[int] = (), after: Sequence[int] = (), steps: int = 150) -> None:
    """Train `model` to copy short sources of random ids with special tokens; each target begins with `first`."""
    torch.manual_seed(0)
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    eos, rows = model.config.eos_token_id, 16
    for _ in range(steps):
        text = torch.randint(4, _PIECES - 1, (rows, int(torch.randint(1, 8, ()))))
        source = torch.cat([_column(rows, before), text, _column(rows, after)], dim=1)
        target = torch.cat([_column(rows, first), text, _column(rows, [eos])], dim=1)
        shifted = torch.cat([_column(rows, [model.config.decoder_start_token_id]), target[:, :-1]], dim=1)
        loss = model(input_ids=source, decoder_input_ids=shifted, labels=target).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()


def _column(rows: int, ids: Sequence[int]) -> torch.Tensor:
    return torch.tensor([list(ids)] * rows, dtype=torch.long).view(rows, len(ids))


def write_pieces(path: Path, seed: int = 0) -> list[str]:
    """Train a SentencePiece model of 60 pieces, write it to `path`, and return its pieces without the three special ones."""
    partial = path.with_suffix("")
    sentencepiece.SentencePieceTrainer.Train(
        sentence_iterator=iter(make_lines(300, seed)), model_prefix=str(partial), vocab_size=_PIECES, character_coverage=1.0, minloglevel=2
    )
    partial.with_name(f"{partial.name}.model").rename(path)
    partial.with_name(f"{partial.name}.vocab").unlink()
    processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
    return [processor.IdToPiece(i) for i in range(3, _PIECES)]


def marian(folder: Path, two_vocabularies: bool = False, shape: Mapping[str, Any] = SHAPE, rows: int = 0) -> Made:
    """OPUS-MT: two SentencePiece models, one vocabulary or two; padding starts the decoder and is never emitted. With `rows`, a model of
    another `shape` with a vocabulary of so many tokens, and with random weights.
    """
    pieces = [write_pieces(folder / name, seed) for seed, name in enumerate(("source.spm", "target.spm"))]
    joint = list(dict.fromkeys([*pieces[0], *pieces[1]]))
    tables = [["</s>", "<unk>", *table, "<pad>"] for table in (pieces if two_vocabularies else [joint])]
    size = max(rows, *map(len, tables))
    tables = [[*table[:-1], *(f"filler{i}" for i in range(size - len(table))), "<pad>"] for table in tables]
    for table, name in zip(tables, ("vocab.json", "target_vocab.json"), strict=False):
        (folder / name).write_text(json.dumps({piece: i for i, piece in enumerate(table)}))
    _settings(folder, {"tokenizer_class": "MarianTokenizer", "source_lang": "en", "target_lang": "de", "separate_vocabs": two_vocabularies})
    config = transformers.MarianConfig(
        vocab_size=size,
        decoder_vocab_size=size,
        pad_token_id=size - 1,
        decoder_start_token_id=size - 1,
        eos_token_id=0,
        forced_eos_token_id=0,
        activation_function="swish",
        scale_embedding=True,
        static_position_embeddings=True,
        share_encoder_decoder_embeddings=not two_vocabularies,
        tie_word_embeddings=not two_vocabularies,
        **shape,
    )
    model = transformers.MarianMTModel(config).eval()
    if not rows:
        train(model, after=[0])
    with torch.no_grad():
        model.final_logits_bias.normal_(std=0.1)
    model.generation_config.bad_words_ids = [[size - 1]]
    model.save_pretrained(folder)
    tokenizer = transformers.MarianTokenizer.from_pretrained(folder)
    return Made(folder, model, lambda text: list(tokenizer(text).input_ids), ("en", "de"))


def bart(folder: Path, positions: int = 256) -> Made:
    """BART: byte-level BPE in two files, a forced first token."""
    trained = tokenizers.ByteLevelBPETokenizer()
    trained.train_from_iterator(make_lines(300), vocab_size=300, special_tokens=[*SPECIAL, "<mask>"], show_progress=False)
    trained.save_model(str(folder))
    config = transformers.BartConfig(
        vocab_size=trained.get_vocab_size(),
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        decoder_start_token_id=2,
        forced_bos_token_id=0,
        forced_eos_token_id=2,
        activation_function="gelu",
        **SHAPE | {"max_position_embeddings": positions},
    )
    model = transformers.BartForConditionalGeneration(config)
    train(model, first=[0], before=[0], after=[2])
    model.save_pretrained(folder)
    tokenizer = transformers.BartTokenizer.from_pretrained(folder)
    return Made(folder, model, lambda text: list(tokenizer(text).input_ids))


def mbart(folder: Path) -> Made:
    """mBART-25: the source's language follows the source, the target's starts the decoder; languages are not listed."""
    pieces = write_pieces(folder / "sentencepiece.bpe.model")
    vocabulary = [*SPECIAL, *pieces, *MBART_25, "<mask>"]
    source, target = (vocabulary.index(name) for name in ("en_XX", "ro_RO"))
    model = transformers.MBartForConditionalGeneration(_mbart_config(len(vocabulary), target))
    train(model, after=[2, source])
    model.save_pretrained(folder)
    encode = _sentencepieces(folder, vocabulary)
    return Made(folder, model, lambda text: [*encode(text), 2, source], ("en_XX", "ro_RO"))


def mbart_50(folder: Path) -> Made:
    """mBART-50: language tokens precede source and target."""
    pieces = write_pieces(folder / "sentencepiece.bpe.model")
    vocabulary = [*SPECIAL, *pieces, *MBART_50, "<mask>"]
    source, target = (vocabulary.index(name) for name in ("en_XX", "de_DE"))
    (folder / "special_tokens_map.json").write_text(json.dumps({"additional_special_tokens": MBART_50}))
    model = transformers.MBartForConditionalGeneration(_mbart_config(len(vocabulary), 2))
    train(model, first=[target], before=[source], after=[2])
    model.save_pretrained(folder)
    encode = _sentencepieces(folder, vocabulary)
    return Made(folder, model, lambda text: [source, *encode(text), 2], ("en_XX", "de_DE"), {"forced_bos_token_id": target})


def m2m_100(folder: Path) -> Made:
    """M2M-100: SentencePiece with a separate vocabulary file; the languages follow the vocabulary."""
    pieces = write_pieces(folder / "sentencepiece.bpe.model")
    (folder / "vocab.json").write_text(json.dumps({piece: i for i, piece in enumerate([*SPECIAL, *reversed(pieces)])}))
    tokenizer = transformers.M2M100Tokenizer(str(folder / "vocab.json"), str(folder / "sentencepiece.bpe.model"), src_lang="en")
    size = len(SPECIAL) + len(pieces) + 100 + 8
    model = transformers.M2M100ForConditionalGeneration(_m2m_100_config(size))
    target = tokenizer.get_lang_id("fr")
    train(model, first=[target], before=[tokenizer.get_lang_id("en")], after=[2])
    model.save_pretrained(folder)
    return Made(folder, model, lambda text: list(tokenizer(text).input_ids), ("en", "fr"), {"forced_bos_token_id": target})


def nllb(folder: Path) -> Made:
    """NLLB: the network of M2M-100, a tokenizer.json, language codes with scripts."""
    names = ["eng_Latn", "deu_Latn", "zho_Hans"]
    trained = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>"))
    trained.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    trained.decoder = tokenizers.decoders.Metaspace()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=90, special_tokens=SPECIAL, show_progress=False)
    trained.train_from_iterator(make_lines(300), trainer)
    trained.add_special_tokens([*names, "<mask>"])
    trained.save(str(folder / "tokenizer.json"))
    _settings(folder, {"tokenizer_class": "NllbTokenizer", "src_lang": "eng_Latn", "extra_special_tokens": names})
    ids = trained.get_vocab()
    source, target = ids["eng_Latn"], ids["deu_Latn"]
    model = transformers.M2M100ForConditionalGeneration(_m2m_100_config(trained.get_vocab_size() + 2))
    train(model, first=[target], before=[source], after=[2])
    model.save_pretrained(folder, max_shard_size="100KB")
    encode = trained.encode
    return Made(folder, model, lambda text: [source, *encode(text).ids, 2], ("eng_Latn", "deu"), {"forced_bos_token_id": target})


T5_SHAPE: dict[str, Any] = {
    "d_model": 32,
    "d_kv": 16,  # 4 heads of 16 are wider than the states
    "d_ff": 64,
    "num_layers": 2,
    "num_decoder_layers": 2,
    "num_heads": 4,
    "dropout_rate": 0.0,
    "decoder_start_token_id": 0,
    "relative_attention_num_buckets": 32,
    "relative_attention_max_distance": 128,
}


def t5(folder: Path, kind: str = "T5", *, gated: bool = True, tied: bool = False, steps: int = 150) -> Made:
    """A model of the T5 family, of the classes `kind` of transformers, with a SentencePiece model alone."""
    write_t5_pieces(folder)
    tokenizer = transformers.T5Tokenizer.from_pretrained(folder)
    size = -(-len(tokenizer) // 64) * 64
    model = make_t5(kind, size, gated=gated, tied=tied, steps=steps)
    model.save_pretrained(folder)
    _settings(folder, {"tokenizer_class": "T5Tokenizer"})
    model = type(model).from_pretrained(folder).eval()
    return Made(folder, model, lambda text: list(tokenizer(text).input_ids), task="translate")


def write_t5_pieces(folder: Path, user_defined: Sequence[str] = ()) -> None:
    """Train a SentencePiece model of 60 pieces with T5's ids of special pieces, and write it to `folder`."""
    sentencepiece.SentencePieceTrainer.Train(
        sentence_iterator=iter(make_lines(300)),
        model_prefix=str(folder / "spiece"),
        vocab_size=_PIECES + len(user_defined),
        character_coverage=1.0,
        minloglevel=2,
        pad_id=0,
        eos_id=1,
        unk_id=2,
        bos_id=-1,
        user_defined_symbols=list(user_defined),
    )
    (folder / "spiece.vocab").unlink()


def make_t5(kind: str, size: int, *, gated: bool, tied: bool, steps: int = 150) -> Any:
    """A trained model with a table of distances that matters, and norms that scale."""
    activation = "gated-gelu" if gated else "relu"
    made = getattr(transformers, f"{kind}Config")(vocab_size=size, feed_forward_proj=activation, tie_word_embeddings=tied, **T5_SHAPE)
    model = getattr(transformers, f"{kind}ForConditionalGeneration")(made)
    if not tied:
        model.lm_head.weight = torch.nn.Parameter(torch.randn(size, T5_SHAPE["d_model"]) * 0.3)
    with torch.no_grad():
        for name, values in model.named_parameters():
            if "relative_attention_bias" in name:
                values.normal_(std=1.0)
            elif values.dim() == 1:
                values.uniform_(0.7, 1.3)
    train(model, after=[1], steps=steps)
    return model


def byt5(folder: Path) -> Made:
    """ByT5: bytes, and a tokenizer without a file but its settings."""
    tokenizer = transformers.ByT5Tokenizer()
    tokenizer.save_pretrained(folder)
    model = make_t5("T5", 384, gated=True, tied=False)
    model.save_pretrained(folder)
    model = type(model).from_pretrained(folder).eval()
    return Made(folder, model, lambda text: list(tokenizer(text).input_ids), task="translate")


def umt5(folder: Path) -> Made:
    """UMT5: each layer has relative positions of its own; a tokenizer.json."""
    return _with_tokenizer_file(t5(folder, "UMT5", steps=300))


def _with_tokenizer_file(made: Made) -> Made:
    """The model with a tokenizer.json in place of its SentencePiece model."""
    tokenizer = transformers.T5Tokenizer.from_pretrained(made.folder)
    (made.folder / "spiece.model").unlink()
    tokenizer.save_pretrained(made.folder)
    before = "<2de> " if made.languages[1] else ""
    return replace(made, encode=lambda text: list(tokenizer(f"{before}{text}").input_ids))


def flan_t5(folder: Path) -> Made:
    """Flan-T5: a tokenizer.json, weights as pickled tensors, an untied output projection that is not scaled."""
    made = _with_tokenizer_file(t5(folder))
    (folder / "model.safetensors").unlink()
    torch.save(made.model.state_dict(), folder / "pytorch_model.bin")
    return made


def t5_with_tasks(folder: Path) -> Made:
    """T5 v1.0, whose config.json describes a task."""
    made = t5(folder, gated=False, tied=True)
    config = json.loads((folder / "config.json").read_text())
    tasks = {"translation_en_to_de": {"prefix": "translate English to German: ", "num_beams": 4, "max_length": 300}}
    (folder / "config.json").write_text(json.dumps(config | {"task_specific_params": tasks}))
    return made


def madlad(folder: Path) -> Made:
    """MADLAD-400: a token of the target language before the source, and no shared embeddings in the file."""
    write_t5_pieces(folder, ["<2de>", "<2fr>", "<2zh_Latn>"])
    _settings(folder, {"tokenizer_class": "T5Tokenizer"})
    tokenizer = transformers.T5Tokenizer.from_pretrained(folder)
    model = make_t5("T5", -(-len(tokenizer) // 64) * 64, gated=True, tied=False)
    model.save_pretrained(folder)
    weights = dict(model.state_dict())
    embeddings = weights.pop("shared.weight")
    weights = {name: value for name, value in weights.items() if "embed_tokens" not in name}
    (folder / "model.safetensors").unlink()
    torch.save(weights | {"decoder.embed_tokens.weight": embeddings}, folder / "pytorch_model.bin")
    return _with_tokenizer_file(Made(folder, model.eval(), list, ("", "de"), task="translate"))  # type: ignore[arg-type]


MAKERS: dict[str, Callable[[Path], Made]] = {
    "Marian": marian,
    "Marian, two vocabularies": lambda folder: marian(folder, two_vocabularies=True),
    "BART": bart,
    "mBART": mbart,
    "mBART-50": mbart_50,
    "M2M-100": m2m_100,
    "NLLB": nllb,
    "T5": lambda folder: t5(folder, gated=False, tied=True),
    "T5 v1.1": t5,
    "Flan-T5": flan_t5,
    "mT5": lambda folder: t5(folder, "MT5"),
    "UMT5": umt5,
    "ByT5": byt5,
    "MADLAD-400": madlad,
}


def _settings(folder: Path, values: dict[str, Any]) -> None:
    (folder / "tokenizer_config.json").write_text(json.dumps(values))


def _sentencepieces(folder: Path, vocabulary: Sequence[str]) -> Callable[[str], list[int]]:
    """fairseq's ids of pieces; <unk> for pieces outside the vocabulary."""
    processor = sentencepiece.SentencePieceProcessor(model_file=str(folder / "sentencepiece.bpe.model"))
    ids = {piece: i for i, piece in enumerate(vocabulary)}
    return lambda text: [ids.get(piece, 3) for piece in processor.EncodeAsPieces(text)]


def _mbart_config(size: int, decoder_start: int) -> Any:
    return transformers.MBartConfig(
        vocab_size=size,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        decoder_start_token_id=decoder_start,
        forced_eos_token_id=2,
        activation_function="gelu",
        scale_embedding=True,
        **SHAPE,
    )


def _m2m_100_config(size: int) -> Any:
    return transformers.M2M100Config(
        vocab_size=size,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        decoder_start_token_id=2,
        activation_function="relu",
        scale_embedding=True,
        **SHAPE,
    )
