"""The texts of a distillation: source lines without duplicates, and targets that hypotheses are compared with."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from specdec_cli.text.corpus.parallel import Pair, read_tsv

if TYPE_CHECKING:
    from sacrebleu.metrics.chrf import CHRF


def distinct_lines(lines: Iterable[str], dropped: Counter[str]) -> list[str]:
    """The distinct lines that are not blank, in order of first occurrence.

    Blank and repeated lines are counted in `dropped`, in place, under "blank source" and "repeated source".
    """
    seen: dict[str, None] = {}
    for line in lines:
        if not line.strip():
            dropped["blank source"] += 1
        elif line in seen:
            dropped["repeated source"] += 1
        else:
            seen[line] = None
    return list(seen)


def sources_digest(lines: Iterable[str]) -> str:
    """A hash, in hexadecimal, of `lines` in their order."""
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line.encode("utf-8") + b"\n")
    return digest.hexdigest()[:16]


@dataclass(frozen=True)
class Targets:
    """The targets of each source, and how similar to one of them a hypothesis must be, in chrF (0 to 100; Popović 2015)."""

    of: Mapping[str, Sequence[str]]
    minimum: float = 0.0

    @classmethod
    def read(cls, paths: Iterable[Path], minimum: float) -> Self:
        """The targets in TSV files. Raises InputError as `read_tsv` does."""
        return cls.of_pairs((pair for path in paths for pair in read_tsv(path)), minimum)

    @classmethod
    def of_pairs(cls, pairs: Iterable[Pair], minimum: float) -> Self:
        """The distinct targets of each source in `pairs`."""
        found: dict[str, dict[str, None]] = {}
        for pair in pairs:
            found.setdefault(pair.source, {})[pair.target] = None
        return cls({source: tuple(targets) for source, targets in found.items()}, minimum)

    def nearest(self, source: str, hypotheses: Sequence[str]) -> str | None:
        """The hypothesis with the highest chrF to one of the targets of `source`, the first of equal ones; None below the minimum."""
        scores = [self._chrf.sentence_score(text, self.of[source]).score for text in hypotheses]
        highest = max(scores)
        return hypotheses[scores.index(highest)] if highest >= self.minimum else None

    def digest(self) -> str:
        """A hash, in hexadecimal, of all sources and targets."""
        digest = hashlib.sha256()
        for source, targets in self.of.items():
            digest.update("\t".join((source, *targets)).encode("utf-8") + b"\n")
        return digest.hexdigest()[:16]

    @cached_property
    def _chrf(self) -> "CHRF":
        from sacrebleu.metrics.chrf import CHRF

        return CHRF()
