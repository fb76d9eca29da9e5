"""Shards hold all lines in order, from one file each."""

from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.cluster.jobs import cut_shards
from specdec_cli.text.io.lines import Line


def lines_of(*texts: str, file: str | None = None) -> list[Line]:
    return [Line(number, text, "\n", f"line {number}", None if file is None else Path(file)) for number, text in enumerate(texts, 1)]


@given(st.lists(st.integers(0, 12), max_size=4), st.integers(1, 5), st.booleans())
def test_shards_hold_all_lines_in_order(files: list[int], size: int, joined: bool) -> None:
    lines = [line for number, count in enumerate(files) for line in lines_of(*map(str, range(count)), file=str(number))]
    shards = list(cut_shards(lines, size, lambda text: joined and int(text) % 2 == 0))

    assert [line for shard in shards for line in shard.lines] == lines
    assert [shard.index for shard in shards] == list(range(len(shards)))
    assert all(1 <= len(shard.lines) <= 2 * size and len({line.file for line in shard.lines}) == 1 for shard in shards)
    assert all(after.first == before.first + len(before.lines) for before, after in pairwise(shards))


def test_lines_that_go_on_stay_together() -> None:
    shards = cut_shards(lines_of("a", "b-", "c", "d"), 2, lambda text: text.endswith("-"))
    assert [[line.text for line in shard.lines] for shard in shards] == [["a", "b-", "c"], ["d"]]


def test_the_digest_depends_on_text_and_line_ends() -> None:
    one, two = (next(cut_shards(lines_of(text), 9)) for text in ("a", "b"))
    (crlf,) = cut_shards([Line(1, "a", "\r\n", "")], 9)
    assert len({one.digest(), two.digest(), crlf.digest()}) == 3
    assert one.bytes == 2
