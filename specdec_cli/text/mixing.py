"""Mixing of the domains of a training text."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from specdec_cli.text.parallel import Pair


def repetitions(counts: Mapping[str, int], temperature: float) -> dict[str, float]:
    """How often each domain is to be read, so that its share is proportional to count ** (1 / temperature) (Arivazhagan et al. 2019).

    `counts` has the number of pairs of each domain; the largest domain is read once. With a temperature of 1 or more, none is read
    less often.
    """
    largest = max(counts.values(), default=1)
    return {domain: (count / largest) ** (1 / temperature - 1) for domain, count in counts.items()}


def repeated(pairs: Iterable[Pair], times: Mapping[str, float]) -> Iterator[Pair]:
    """Yield each pair `times[its domain]` times on average, in order; the copies of a pair are adjacent.

    Of a domain that is read 2.5 times, every other pair is yielded three times, and the others twice.
    """
    seen = Counter[str]()
    for pair in pairs:
        due = times[pair.domain]
        copies = int((seen[pair.domain] + 1) * due) - int(seen[pair.domain] * due)
        seen[pair.domain] += 1
        for _ in range(copies):
            yield pair
