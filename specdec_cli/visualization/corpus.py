"""Counts over a corpus: in which iteration of Jacobi decoding its tokens became right, by position and by kind."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean
from typing import Any, Literal, get_args

from specdec_cli.visualization.picture import Picture

Kind = Literal["word start", "inside a word", "punctuation", "end of sentence"]
KINDS: tuple[Kind, ...] = get_args(Kind)
FORMAT = 1


@dataclass(frozen=True)
class Token:
    """A token of an output: its position, and the iteration from which on it was right, both from 1.

    `waited`: whether the token before it was right sooner; None for the first of a sentence.
    """

    position: int
    iteration: int
    kind: Kind
    waited: bool | None


@dataclass(frozen=True)
class Step:
    """An iteration: how many tokens became right in it and stayed so, and their share of all tokens.

    `so_far`: the share that is right for good by then. `greedy` and `greedy_so_far`: the same of greedy decoding, whose
    round k gives token k of each sentence.
    """

    iteration: int
    tokens: int
    share: float
    so_far: float
    greedy: float
    greedy_so_far: float


@dataclass(frozen=True)
class Group:
    """Some tokens: the mean iteration from which on they were right, and how many rounds later greedy decoding has them.

    `did_not_wait`: the share that was right no later than the token before it, of those that have one; None where none
    has.
    """

    tokens: int
    iteration: float
    earlier: float
    did_not_wait: float | None


@dataclass(frozen=True)
class Corpus:
    """The tokens of each sentence (one at least), in order; lines that were `skipped`, by reason."""

    name: str
    sentences: tuple[tuple[Token, ...], ...]
    skipped: Mapping[str, int] = field(default_factory=dict)

    @property
    def tokens(self) -> list[Token]:
        """Those of all sentences, ends included."""
        return [token for sentence in self.sentences for token in sentence]

    @property
    def iterations(self) -> int:
        """Those of all sentences; each needs as many as its last token to become right."""
        return sum(max(token.iteration for token in sentence) for sentence in self.sentences)

    def by_iteration(self) -> list[Step]:
        """Every iteration up to the one where greedy decoding, too, has all."""
        tokens = self.tokens
        settled, positions = Counter(token.iteration for token in tokens), Counter(token.position for token in tokens)
        steps, right, greedy = [], 0, 0
        for number in range(1, max(max(positions), max(settled)) + 1):
            right, greedy = right + settled[number], greedy + positions[number]
            shares = (round(count / len(tokens), 4) for count in (settled[number], right, positions[number], greedy))
            steps.append(Step(number, settled[number], *shares))
        return steps

    def by_position(self) -> dict[int, Group]:
        """Every position, from 1; the later ones are of long sentences alone."""
        columns: list[list[Token]] = [[] for _ in range(max(map(len, self.sentences)))]
        for token in self.tokens:
            columns[token.position - 1].append(token)
        return {position: group(column) for position, column in enumerate(columns, start=1)}

    def by_kind(self) -> dict[Kind, Group]:
        """Every kind that occurs."""
        of_kind = {kind: [token for token in self.tokens if token.kind == kind] for kind in KINDS}
        return {kind: group(tokens) for kind, tokens in of_kind.items() if tokens}

    def to_dict(self) -> dict[str, Any]:
        """All numbers, for JSON."""
        tokens, iterations = len(self.tokens), self.iterations
        return {
            "format": FORMAT,
            "decoding": "jacobi",
            "name": self.name,
            "sentences": len(self.sentences),
            "skipped": dict(self.skipped),
            "tokens": tokens,
            "iterations": iterations,
            "tokens_per_iteration": round(tokens / iterations, 3),
            "overall": asdict(group(self.tokens)),
            "by_iteration": [asdict(step) for step in self.by_iteration()],
            "by_position": [{"position": position} | asdict(of) for position, of in self.by_position().items()],
            "by_kind": [{"kind": kind} | asdict(of) for kind, of in self.by_kind().items()],
        }


def group(tokens: Sequence[Token]) -> Group:
    """What is said of some tokens, one at least."""
    waited = [token.waited for token in tokens if token.waited is not None]
    return Group(
        tokens=len(tokens),
        iteration=round(fmean(token.iteration for token in tokens), 3),
        earlier=round(fmean(token.position - token.iteration for token in tokens), 3),
        did_not_wait=round(waited.count(False) / len(waited), 4) if waited else None,
    )


def kinds_by_id(pieces: Sequence[str], word_starts: Sequence[bool], eos: int) -> list[Kind]:
    """The kind of every piece of a vocabulary; without letters or digits, what does not start a word is punctuation."""
    kinds: list[Kind] = []
    for number, (piece, starts) in enumerate(zip(pieces, word_starts, strict=True)):
        within: Kind = "inside a word" if any(map(str.isalnum, piece)) else "punctuation"
        kinds.append("end of sentence" if number == eos else "word start" if starts else within)
    return kinds


def tokens_of(picture: Picture, kinds: Sequence[Kind]) -> tuple[Token, ...]:
    """The tokens of a dependency graph, given the kind of each."""
    before = (None, *picture.settled[:-1])
    rows = zip(picture.settled, before, kinds, strict=True)
    return tuple(
        Token(position, iteration, kind, None if last is None else last < iteration)
        for position, (iteration, last, kind) in enumerate(rows, start=1)
    )
