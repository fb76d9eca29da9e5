"""Edits of characters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.metrics.character_edits import CharacterEdit, character_edits, match_characters
from specdec_cli.metrics.max_match import MaxMatch


@pytest.mark.parametrize(
    ("source", "changed", "edits"),
    [
        ("我喜欢书", "我喜欢书", []),
        ("我坐飞机", "我做飞机", [(1, 2, "做")]),
        ("我书", "我喜欢看书", [(1, 1, "喜欢看")]),
        ("我很很的好", "我很好", [(1, 2, ""), (3, 4, "")]),
        ("我非常的很好", "我好", [(1, 5, "")]),
        ("我学天习", "我天学习", [(1, 3, "天学")]),
        ("今天的我去", "今天我去了", [(2, 3, ""), (5, 5, "了")]),
        ("门天好", "们今好", [(0, 2, "们今")]),
        ("我在家里学", "我家学", [(1, 2, ""), (3, 4, "")]),
        ("买10个梨", "买十个梨", [(1, 3, "十")]),
        ("慢慢他走了", "他走慢慢了", [(0, 4, "他走慢慢")]),
        ("他走慢慢了", "慢慢他走了", [(0, 4, "慢慢他走")]),
        ("", "好", [(0, 0, "好")]),
    ],
)
def test_edits(source: str, changed: str, edits: list[tuple[int, int, str]]) -> None:
    assert character_edits(source, changed) == {CharacterEdit(*edit) for edit in edits}


@given(st.text("我你他们好", max_size=9), st.text("我你他们好", max_size=9))
def test_edits_turn_the_source_into_the_changed_text(source: str, changed: str) -> None:
    text = source
    for edit in sorted(character_edits(source, changed), key=lambda edit: (edit.start, edit.end), reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    assert text == changed


def test_a_line_is_compared_with_the_annotator_who_agrees_most() -> None:
    gold = [[character_edits("我坐飞机", "我做飞机"), character_edits("我坐飞机", "我乘飞机")], [character_edits("好", "好")]]
    assert match_characters(["我坐飞机", "好"], ["我 乘飞机", "好了"], gold) == MaxMatch(1, 2, 1)
    assert match_characters(["我坐飞机", "好"], ["我坐飞机", "好"], gold) == MaxMatch(0, 0, 1)
    with pytest.raises(ValueError, match="shorter"):
        match_characters(["好"], [], [])
