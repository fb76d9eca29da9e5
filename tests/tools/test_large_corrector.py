"""The measurement of correctors of the size of Flan-T5, with a tiny one."""

import random
from dataclasses import replace

import pytest

from tools import large_corrector
from tools.large_corrector import SHARES, SIZES, edited, measure, table


def test_copies_have_the_share_of_edits() -> None:
    ids = list(range(1000, 2000))
    assert edited(ids, 0.0, random.Random(1), range(10)) == ids
    copied = edited(ids, 0.2, random.Random(1), range(10))
    kept = [token for token in copied if token >= 1000]
    assert kept == sorted(kept) and 800 < len(kept) < 900  # a third of the edits keeps the token
    assert 90 < len(copied) - len(kept) < 180
    assert [token for token in edited(ids, 1.0, random.Random(1), [7]) if token < 1000].count(7) > 600


def test_rows_of_a_tiny_model_give_greedy_output(monkeypatch: pytest.MonkeyPatch) -> None:
    shape = replace(SIZES[0].shape, vocabulary_size=200, width=64, heads=2, feed_forward=64, encoder_layers=1, decoder_layers=1)
    found = measure(replace(SIZES[0], shape=shape), 1, transformers=False)
    assert len(found) == 2 + len(SHARES) and all(speed > 0 for speed in found.values())
    calls: list[int] = []
    decoded = large_corrector._decoded

    def other(*arguments: object) -> list[list[int]]:
        calls.append(1)
        return [[*ids[:-1], 5] if len(calls) > 3 else ids for ids in decoded(*arguments)]  # type: ignore[arg-type]

    monkeypatch.setattr(large_corrector, "_decoded", other)
    with pytest.raises(ValueError, match="not the output of greedy decoding"):
        measure(replace(SIZES[0], shape=shape), 1, transformers=False)


def test_the_table_has_the_stored_rows() -> None:
    lines = table().splitlines()
    assert lines[0].count("|") == 4 and "flan-t5-large" in lines[0]
    assert [line.split("|")[1].strip() for line in lines[2:5]] == ["transformers, float32", "CTranslate2, int8", "specdec, int8, `greedy`"]
    assert "(1.0x)" in lines[3] and len([line for line in lines if line.startswith("|")]) == 2 + 3 + len(SHARES)
