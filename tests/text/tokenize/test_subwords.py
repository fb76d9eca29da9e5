"""Subword tokenizers: encoding and decoding."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.errors import InputError, ModelError
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
