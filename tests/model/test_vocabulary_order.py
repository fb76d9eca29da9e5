"""Vocabularies ordered by frequency."""

from itertools import chain
from pathlib import Path

import pytest
import torch

from specdec_cli.errors import ModelError
from specdec_cli.model.bundle import Bundle, load_bundle, save_bundle
from specdec_cli.model.bundle_edits import order_vocabulary
from specdec_cli.text.tokenize.sentencepiece import MASK, frequent_first, reorder_pieces
from tests.conftest import make_lines


def test_frequent_ids_come_first() -> None:
    assert frequent_first([9, 9, 0, 2, 5, 2], 2) == [0, 1, 4, 3, 5, 2]


def test_the_ordered_model_is_the_same_model(bundle: Bundle, tmp_path: Path) -> None:
    save_bundle(bundle, tmp_path / "before")
    before, after = load_bundle(tmp_path / "before"), load_bundle(tmp_path / "before")
    texts = make_lines(200, seed=3)
    order_vocabulary(after, texts, tmp_path / "tokenizer.model")
    save_bundle(after, tmp_path / "after")
    after = load_bundle(tmp_path / "after")
    ids, moved = ([tokenizer.encode(text) for text in texts] for tokenizer in (before.tokenizer, after.tokenizer))
    assert sum(map(sum, moved)) < sum(map(sum, ids))
    new = dict(zip(chain.from_iterable(ids), chain.from_iterable(moved), strict=True))
    assert [[new[each] for each in line] for line in ids] == moved
    assert [after.tokenizer.decode(line) for line in moved] == texts
    assert all(new[old] == old for old in new if old <= MASK)
    source, target = [*ids[0], before.shape.eos], [before.shape.decoder_start, *ids[1]]
    scores = []
    for read, names in ((before, {}), (after, new)):
        rows = [torch.tensor([[names.get(each, each) for each in line]]) for line in (source, target)]
        with torch.inference_mode():
            scores.append(read.verifier(rows[0], rows[1]))
    known = sorted(new)
    torch.testing.assert_close(scores[0][..., known], scores[1][..., [new[each] for each in known]])


@pytest.mark.parametrize("damage", [b"", b"\x0a", b"\x0a\xff\xff\xff\xff\xff\xff", b"\x0a\x05abc", b"\x08\x01", b"\x8a\x01\x00"])
def test_other_files_are_refused(damage: bytes) -> None:
    with pytest.raises(ModelError, match="SentencePiece"):
        reorder_pieces(damage, [0, 1])
