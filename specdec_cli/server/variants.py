"""Several outputs for a text that consists of parts, each with several outputs of its own."""

from collections.abc import Callable, Sequence


def variants(join: Callable[[Sequence[str]], str], outputs: Sequence[Sequence[str]]) -> list[str]:
    """The different texts that `join` makes of the n-th output of each part, or its last one, for n = 0, 1, ..

    `outputs` has the outputs of each part, at least one and the best first.
    """
    distinct = [list(dict.fromkeys(each)) for each in outputs]
    ranks = range(max(map(len, distinct), default=1))
    return list(dict.fromkeys(join([each[min(rank, len(each) - 1)] for each in distinct]) for rank in ranks))
