"""The best combinations of scored texts."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.pipeline.decoded_text import best_combinations

_LISTS = st.lists(st.lists(st.integers(-50, 0), min_size=1, max_size=5).map(lambda own: sorted(own, reverse=True)), max_size=4)


@given(_LISTS, st.integers(1, 9))
def test_the_best_of_all_combinations_are_found(lists: list[list[int]], limit: int) -> None:
    options = [[(f"{place}.{rank}", float(score)) for rank, score in enumerate(own)] for place, own in enumerate(lists)]
    found = best_combinations(options, limit)
    assert [score for _, score in found] == sorted(map(sum, product(*lists)), reverse=True)[:limit]
    scores = {text: score for own in options for text, score in own}
    assert all(sum(map(scores.__getitem__, texts)) == score for texts, score in found)
    assert len({texts for texts, _ in found}) == len(found)


def test_many_long_lists_are_combined() -> None:
    options = [[("a", 0.0), ("b", -1.0 - place)] for place in range(300)]
    first, second, *_ = best_combinations(options, 5)
    assert first == (("a",) * 300, 0.0)
    assert second == (("b", *("a",) * 299), -1.0)
