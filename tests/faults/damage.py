"""Tiny bundles of every kind on disk, and copies of them with one value of one JSON file replaced."""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tokenizers

from specdec_cli.model.bundle import Bundle, BundleInfo, save_bundle
from specdec_cli.text.corpus.ngram_counting import count_ngrams
from specdec_cli.text.spelling.speller import Lexicon
from specdec_cli.text.tokenize.converted import SOURCE, TARGET, ConvertedTokenizer, TokenizerConfig, make_segmenter
from specdec_cli.text.tokenize.sentencepiece import Subwords
from tests.fakes import tiny_drafter, tiny_heads, tiny_transformer

VALUES: tuple[Any, ...] = (-1, 0, 2**31, 1e308, math.nan, None, "text", [])
"""The values that replace each value in turn."""
_FRAME: dict[str, Any] = {"unknown": "<unk>", "mask": "<pad>", "after": ("</s>",), "hidden": ("<s>", "</s>", "<pad>", "<unk>")}
_NO_FIELDS = ("tokenizer.json", "vocabulary.json")
"""Files of which messages name no field: lists of pieces, and a file that another library reads."""
_LANGUAGES = {"en": "<en>", "de": "<de>"}


@dataclass(frozen=True)
class Case:
    """A `value` at the path `keys` in the JSON file `file`."""

    file: str
    keys: tuple[str | int, ...]
    value: Any

    @property
    def field(self) -> str:
        """The name of the field that contains the value."""
        return next(key for key in self.keys if isinstance(key, str))

    def write(self, folder: Path) -> None:
        """Write the value to the file; a link to the undamaged file is replaced."""
        path = folder / self.file
        values = json.loads(path.read_text())
        inner = values
        for key in self.keys[:-1]:
            inner = inner[key]
        inner[self.keys[-1]] = self.value
        path.unlink()
        path.write_text(json.dumps(values))


def cases(folder: Path, file: str) -> Iterator[Case]:
    """Every value at every place of a JSON file; of a list, only the first element is changed."""
    for keys in _places(json.loads((folder / file).read_text()), ()):
        yield from (Case(file, keys, value) for value in VALUES)


def _places(values: Any, above: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    inner: Any = values.items() if isinstance(values, dict) else enumerate(values[:1]) if isinstance(values, list) else ()
    for key, value in list(inner)[:30]:
        yield (*above, key)
        yield from _places(value, (*above, key))


def linked(folder: Path, target: Path) -> Path:
    """A bundle whose files are links to those of `folder`, without the digest of its tokenizer."""
    for path in sorted(folder.rglob("*")):
        own = target / path.relative_to(folder)
        if path.is_dir():
            own.mkdir(parents=True)
        else:
            own.parent.mkdir(parents=True, exist_ok=True)
            own.symlink_to(path)
    return target


def write_bundles(folder: Path, subwords: Subwords) -> None:
    """Write bundles to `folder`, by name: with a drafter, heads, a masked model, a corrector, each converted tokenizer."""
    verifier = tiny_transformer(vocabulary_size=len(subwords))
    info = BundleInfo(decoding="specdec", block_size=4, presets={"high-quality": (2, 0.5)})
    save_bundle(Bundle(info, subwords, verifier, tiny_drafter(verifier)), folder / "drafter")
    save_bundle(Bundle(BundleInfo(block_size=4), subwords, verifier, tiny_heads(verifier)), folder / "heads")
    masked = tiny_transformer(vocabulary_size=len(subwords), order="masked", length_reach=6)
    save_bundle(Bundle(BundleInfo(), subwords, masked), folder / "masked")
    corrector = BundleInfo("correct", "en", "en", "input-guided", modes={"balanced": (-0.5, -2.5)}, max_pieces=3.0)
    corrector, ngrams = replace(corrector, ngrams=True, lexicon=True), count_ngrams(["ka lo mi"] * 2)
    save_bundle(Bundle(corrector, subwords, verifier, ngrams=ngrams, lexicon=Lexicon("ka lo mi".split)), folder / "corrector")
    for name, make in (("sentencepiece", _sentencepiece), ("tokenizers", _tokenizers), ("moses-bpe", _moses)):
        (folder / "files").mkdir(exist_ok=True)
        tokenizer = make(folder / "files", subwords)
        model = tiny_transformer(vocabulary_size=len(tokenizer))
        save_bundle(Bundle(BundleInfo(decoding="greedy"), tokenizer, model), folder / name)
    for path in folder.glob("*/bundle.json"):
        values = json.loads(path.read_text())
        del values["tokenizer_digest"]  # otherwise the digest would hide other errors of a tokenizer
        path.write_text(json.dumps(values))


def _converted(config: TokenizerConfig, folder: Path, vocabulary: list[str]) -> ConvertedTokenizer:
    segmenter = make_segmenter(config, folder, "en", "de", vocabulary)
    return ConvertedTokenizer(config, segmenter, vocabulary, None, "en", "de", folder)


def _sentencepiece(folder: Path, subwords: Subwords) -> ConvertedTokenizer:
    """The tokenizer of a multilingual model."""
    subwords.save(folder)
    config = TokenizerConfig("sentencepiece", ("tokenizer.model",), before=(SOURCE,), forced=TARGET, languages=_LANGUAGES, **_FRAME)
    return _converted(config, folder, [*subwords.vocabulary(), *_LANGUAGES.values()])


def _tokenizers(folder: Path, subwords: Subwords) -> ConvertedTokenizer:
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    made: Any = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=300, special_tokens=special, show_progress=False)
    made.train_from_iterator(subwords.vocabulary(), trainer)
    made.save(str(folder / "tokenizer.json"))
    vocabulary = [piece for piece, _ in sorted(made.get_vocab().items(), key=lambda item: item[1])]
    return _converted(TokenizerConfig("tokenizers", ("tokenizer.json",), **_FRAME), folder, vocabulary)


def _moses(folder: Path, subwords: Subwords) -> ConvertedTokenizer:
    del subwords
    (folder / "codes").write_text("#version: 0.2\nk a\nl o</w>\nm i</w>\n")
    letters = [letter + end for letter in "abcdefghijklmnopqrstuvwxyz" for end in ("", "@@")]
    vocabulary = ["<s>", "<pad>", "</s>", "<unk>", *letters, "ka@@", "lo", "mi"]
    return _converted(TokenizerConfig("moses-bpe", ("codes",), **_FRAME), folder, vocabulary)


def outcome(case: Case, code: int, said: str) -> str:
    """The treatment of a damaged bundle: `done`, `refused` with a message naming file and field, or a description of the fault."""
    if code == 0:
        return "done"
    if code not in (2, 3) or "Traceback" in said:
        return f"{case}: exit code {code}: {said}"
    field = any(case.field.replace("_", mark) in said for mark in "_- ") or Path(case.file).name in _NO_FIELDS
    # An unknown language, on the command line or in bundle.json, is a UsageError.
    file = case.file in said or code == 2 or case.file.endswith("vocabulary.json")
    # A configuration that does not match the tensors is an error naming the file of the weights and a tensor.
    weights = f"{Path(case.file).parent}/model.safetensors: " in said
    return "refused" if weights or (field and file) else f"{case}: no word of the file or the field: {said}"
