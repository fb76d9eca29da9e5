"""A trained Transformer for another vocabulary."""

import pytest
import torch

from specdec_cli.model.bundle import Bundle
from specdec_cli.text.tokenize.sentencepiece import EOS, MASK, PADDING, Subwords, train_subwords
from specdec_cli.training.initial import with_vocabulary
from tests.conftest import make_lines


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Subwords:
    """Another vocabulary of the same letters."""
    lines = [line[::-1] for line in make_lines(400)]  # for other pieces
    return train_subwords(lines, tmp_path_factory.mktemp("other") / "tokenizer.model", 340, threads=1)


def test_the_same_vocabulary_changes_nothing(bundle: Bundle) -> None:
    copy = with_vocabulary(bundle, bundle.tokenizer, dropout=0.0)
    assert copy.config == bundle.verifier.config
    assert all(torch.equal(value, bundle.verifier.state_dict()[name]) for name, value in copy.state_dict().items())


def test_layers_and_common_pieces_are_kept(bundle: Bundle, other: Subwords) -> None:
    model = with_vocabulary(bundle, other, dropout=0.0)
    old, new = bundle.verifier.state_dict(), model.state_dict()
    assert model.config.vocabulary_size == len(other) == 340
    assert torch.equal(new["layers.0.feed_forward.inner.weight"], old["layers.0.feed_forward.inner.weight"])
    assert torch.equal(new["embedding.tokens.weight"][: MASK + 1], old["embedding.tokens.weight"][: MASK + 1])
    shared = [piece for piece in other.vocabulary() if bundle.tokenizer.id_of(piece) is not None]
    assert len(shared) > 270  # 256 of them are bytes
    for piece in shared:
        here, there = other.id_of(piece), bundle.tokenizer.id_of(piece)
        assert new["output.bias"][here] == old["output.bias"][there]


@pytest.mark.parametrize("starts_word", [True, False])
def test_a_new_piece_is_the_mean_of_its_parts(bundle: Bundle, other: Subwords, starts_word: bool) -> None:
    model = with_vocabulary(bundle, other, dropout=0.0)
    old = bundle.verifier.embedding.tokens.weight
    unknown = [p for p in other.vocabulary() if bundle.tokenizer.id_of(p) is None and p.startswith("\u2581") == starts_word]
    assert unknown
    for piece in unknown:
        parts = bundle.tokenizer.encode(piece.removeprefix("\u2581"))
        if not starts_word:  # SentencePiece begins every text with a space, which a piece inside a word lacks
            parts = bundle.tokenizer.encode("\u0001" + piece)[len(bundle.tokenizer.encode("\u0001")) :]
        torch.testing.assert_close(model.embedding.tokens.weight[other.id_of(piece)], old[parts].mean(0))


def test_ids_of_pieces_are_found(tokenizer: Subwords) -> None:
    assert [tokenizer.id_of(piece) for piece in ("<pad>", "</s>", "<mask>")] == [PADDING, EOS, MASK]
    assert tokenizer.id_of("no such piece") is None
