"""Subword tokenizers, those of converted models, and errors for damaged ones."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.errors import InputError, ModelError
from specdec_cli.text.tokenize.converted import ConvertedTokenizer, TokenizerConfig, load_converted, make_segmenter
from specdec_cli.text.tokenize.sentencepiece import BOS, EOS, MASK, PADDING, UNKNOWN, Subwords, train_subwords

# SentencePiece writes a space as U+2581.
TEXT = st.text(st.characters(exclude_characters="\u2581", exclude_categories=["Cs"]))


@given(TEXT)
def test_decoding_restores_any_text(tokenizer: Subwords, text: str) -> None:
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert not {PADDING, UNKNOWN, BOS, EOS, MASK} & set(ids)


@given(st.data())
def test_each_id_ends_where_the_text_before_the_next_one_does(tokenizer: Subwords, data: st.DataObject) -> None:
    ids = data.draw(st.lists(st.integers(0, len(tokenizer) - 1)) | TEXT.map(tokenizer.encode))
    assert tokenizer.ends(ids) == [len(tokenizer.decode(ids[: number + 1])) for number in range(len(ids))]


def test_special_ids_are_not_decoded_or_encoded(tokenizer: Subwords) -> None:
    ids = tokenizer.encode("ka lo")
    assert tokenizer.decode([BOS, *ids, MASK, EOS, PADDING]) == "ka lo"
    assert MASK not in tokenizer.encode("<mask>")
    assert tokenizer.vocabulary()[MASK] == "<mask>"


def test_the_largest_possible_vocabulary_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a vocabulary of 5,000 subwords: the text has 268 at most"):
        train_subwords(["one line"], tmp_path / "tokenizer.model", 5000)
    assert list(tmp_path.iterdir()) == []
    assert len(train_subwords(["one line"], tmp_path / "tokenizer.model", 5000, exact=False)) == 268


@pytest.mark.parametrize("content", [None, b"", b"no model"])
def test_a_file_that_is_no_model_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "tokenizer.model"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ModelError, match=r"tokenizer\.model: (not a SentencePiece model|no such file)"):
        Subwords(path)


FRAME: dict[str, Any] = {"unknown": "<unk>", "mask": "<pad>", "after": ("</s>",), "hidden": ("</s>",)}


@pytest.fixture(scope="module")
def stored(tokenizer: Subwords, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a SentencePiece tokenizer."""
    folder = tmp_path_factory.mktemp("stored")
    config = TokenizerConfig("sentencepiece", (tokenizer.path.name,), **FRAME)
    segmenter = make_segmenter(config, tokenizer.path.parent, "en", "de", [])
    ConvertedTokenizer(config, segmenter, tokenizer.vocabulary(), None, "en", "de", folder).save(folder)
    return folder


def test_a_stored_tokenizer_is_restored(stored: Path, tokenizer: Subwords) -> None:
    loaded = load_converted(stored, "en", "de")
    assert loaded.encode("ka lo mi") == tokenizer.encode("ka lo mi")
    assert loaded.decode([*loaded.encode("ka lo mi"), *loaded.special_tokens.after]) == "ka lo mi"


def test_a_separate_source_vocabulary_is_restored(stored: Path, tokenizer: Subwords, tmp_path: Path) -> None:
    loaded = load_converted(stored, "en", "de")
    source = [*reversed(tokenizer.vocabulary()), "more"]
    segmenter = make_segmenter(loaded.config, stored / "tokenizer", "en", "de", [])
    ConvertedTokenizer(loaded.config, segmenter, tokenizer.vocabulary(), source, "en", "de", tmp_path).save(tmp_path)
    again = load_converted(tmp_path, "en", "de")
    assert (again.source_vocabulary(), again.vocabulary()) == (source, tokenizer.vocabulary())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"files": []}, "files must be a list of one or two names, not of 0"),
        ({"files": ["a", "b", "c"]}, "files must be a list of one or two names, not of 3"),
        ({"files": ["../../etc/passwd"]}, r"files must be names in the tokenizer's folder, not '../../etc/passwd'"),
        ({"files": ["/etc/passwd"]}, r"files must be names in the tokenizer's folder, not '/etc/passwd'"),
        ({"files": [".."]}, r"files must be names in the tokenizer's folder, not '..'"),
        ({"files": ["absent.model"]}, "files names 'absent.model', which does not exist"),
        ({"files": ["tokenizer.model", 1]}, "files must be a list of text"),
        ({"after": None}, "after must be a list of text, not None"),
        ({"after": ["<eos>"]}, "after names '<eos>', which the vocabulary does not have"),
        ({"kind": "words"}, "kind must be sentencepiece or tokenizers or moses-bpe, not 'words'"),
        ({"languages": {"en": 3}}, "languages.en must be text"),
        ({"colour": "red"}, "unknown key 'colour'"),
    ],
)
def test_a_damaged_configuration_is_named(stored: Path, changes: dict[str, Any], words: str, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(stored, tmp_path / "copy"))
    path = folder / "tokenizer" / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(ModelError, match=f"{path}: {words}"):
        load_converted(folder, "en", "de")


def test_a_damaged_vocabulary_is_named(stored: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(stored, tmp_path / "copy"))
    path = folder / "tokenizer" / "vocabulary.json"
    path.write_text(json.dumps({"target": ["a", 1]}))
    with pytest.raises(ModelError, match=f"{path}: target must be a list of text"):
        load_converted(folder, "en", "de")


def test_an_invalid_piece_is_named(tokenizer: Subwords, tmp_path: Path) -> None:
    stored, damaged = tokenizer.path.read_bytes(), tmp_path / "tokenizer.model"
    place = stored.rindex("\u2581".encode())
    damaged.write_bytes(stored[:place] + bytes([stored[place] ^ 0x10]) + stored[place + 1 :])
    with pytest.raises(ModelError, match=f"{damaged}: not a SentencePiece model"):
        Subwords(damaged)
