"""The bridge between two vocabularies: texts go over it unchanged, and whatever comes, what it proposes is text."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.decoding.bridge import Bridge, word_ids
from specdec_cli.text.tokenize.sentencepiece import BOS, EOS, MASK, PADDING, Subwords, train_subwords
from tests.conftest import make_lines

SPECIAL = {PADDING, BOS, EOS, MASK}
TEXTS = (
    "kalo mita",
    "Kalo, mita! (su-no) 3,5 % di",
    "kalo  mita",
    "kalo mita ",
    "äöü ß 中文 👍🏽 kalo",
    "a\u00a0b kalo",
    "kalo",
    "",
)


@pytest.fixture(scope="session")
def pair(tokenizer: Subwords, tmp_path_factory: pytest.TempPathFactory) -> tuple[Subwords, Subwords]:
    """Two tokenizers that cut words differently."""
    path: Path = tmp_path_factory.mktemp("bridge") / "tokenizer.model"
    return tokenizer, train_subwords(make_lines(400, seed=8), path, len(tokenizer) + 90, exact=False, threads=1)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("turned", [False, True])
def test_the_tokens_of_a_text_are_those_of_its_words(pair: tuple[Subwords, Subwords], text: str, turned: bool) -> None:
    verifier, draft = pair[::-1] if turned else pair
    assert Bridge(verifier, draft).read(verifier.encode(text)) == draft.encode(text)


@pytest.mark.parametrize("text", TEXTS)
def test_what_the_draft_model_writes_after_whole_words_becomes_the_rest_of_the_text(pair: tuple[Subwords, Subwords], text: str) -> None:
    verifier, draft = pair
    bridge, ids, whole = Bridge(verifier, draft), verifier.encode(text), draft.encode(text)
    starts = [number for number, token in enumerate(ids) if verifier.vocabulary()[token].startswith("\u2581")]
    tried = 0
    for split in starts:
        read = bridge.read(ids[:split])
        if whole[: len(read)] != read or verifier.decode(ids[:split]) != text[: len(verifier.decode(ids[:split]))]:
            continue
        assert bridge.continued(ids[:split], read, whole[len(read) :]) == ids[split:]
        tried += 1
    assert tried or not text.strip()


def test_a_word_that_the_output_has_begun_goes_on_where_its_tokens_do(pair: tuple[Subwords, Subwords]) -> None:
    verifier, draft = pair
    bridge, went_on = Bridge(verifier, draft), 0
    for line in make_lines(60, seed=3):
        ids, whole = verifier.encode(line), draft.encode(line)
        for split in range(1, len(ids)):
            begun = verifier.decode(ids[:split])
            if line[len(begun)] == " ":
                continue
            for cut in range(1, len(whole)):
                if draft.decode(whole[:cut]) == begun:
                    assert bridge.continued(ids[:split], whole[:cut], whole[cut:]) == ids[split:]
                    went_on += 1
    assert went_on > 0


def test_a_word_that_the_output_has_begun_with_other_tokens_goes_on_by_its_text(pair: tuple[Subwords, Subwords]) -> None:
    verifier, draft = pair
    bridge, went_on = Bridge(verifier, draft), 0
    letters = {piece: token for token, piece in enumerate(verifier.vocabulary()) if len(piece) == 1}
    for line in make_lines(60, seed=3):
        whole = draft.encode(line)
        output = [letters[letter] for letter in f"\u2581{line[:2]}"]
        read = bridge.read(output)
        if whole[: len(read)] == read:
            assert verifier.decode([*output, *bridge.continued(output, read, whole[len(read) :])]) == line
            went_on += 1
    assert went_on > 0


def test_a_space_that_the_output_ends_with_is_the_beginning_of_the_next_word(pair: tuple[Subwords, Subwords]) -> None:
    verifier, draft = pair
    bridge, space = Bridge(verifier, draft), verifier.vocabulary().index("\u2581")
    for text, begun in (("kalo mita resu", "kalo"), ("kalo mita resu", "")):
        output, read = [*verifier.encode(begun), space], draft.encode(begun)
        found = bridge.continued(output, read, draft.encode(text)[len(read) :])
        assert verifier.decode([*output, *found]) == text
        assert verifier.decode(found) != verifier.decode([*output, *found]) or not begun


@given(data=st.data())
def test_whatever_is_written_a_draft_is_text(pair: tuple[Subwords, Subwords], data: st.DataObject) -> None:
    verifier, draft = pair
    bridge = Bridge(verifier, draft)

    def some(tokenizer: Subwords) -> Sequence[int]:
        return data.draw(st.lists(st.integers(0, len(tokenizer) - 1), max_size=12))

    output = some(verifier)
    read = bridge.read(output)
    assert not SPECIAL & set(read)
    assert not SPECIAL & set(bridge.continued(output, read, some(draft)))


def test_a_word_has_other_tokens_at_the_beginning_where_the_tokenizer_marks_it(tokenizer: Subwords) -> None:
    assert word_ids(tokenizer, "mita", is_first=True) == tokenizer.encode("mita")
    assert word_ids(tokenizer, "", is_first=False) == tokenizer.encode("a ")[len(tokenizer.encode("a")) :]
