"""Statistics of Jacobi decoding over a corpus: the iterations in which tokens became right, by position and by kind.

A token is right if it equals the token of greedy decoding. Greedy decoding has token k of a sentence after k rounds.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean
from typing import Any, Literal, get_args

from specdec_cli.decoding.options import DecodingOptions, resolve
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.engines.reference import Engine
from specdec_cli.errors import InputError
from specdec_cli.model.bundle import Bundle
from specdec_cli.visualization.picture import Picture
from specdec_cli.visualization.recording import jacobi_graph

Kind = Literal["word start", "inside a word", "punctuation", "end of sentence"]
KINDS: tuple[Kind, ...] = get_args(Kind)
FORMAT = 1


@dataclass(frozen=True)
class Token:
    """A token of a Jacobi output: its position, and the iteration from which on it was right (both counted from 1).

    A token is right if it equals the token of greedy decoding. `waited` is true if the previous token became right in an earlier
    iteration; None for the first token of a sentence.
    """

    position: int
    iteration: int
    kind: Kind
    waited: bool | None


@dataclass(frozen=True)
class Step:
    """Iteration number `iteration` (from 1) of Jacobi decoding, over all sentences of a corpus.

    `tokens` counts the tokens that became right in it and stayed right; `share` (0 to 1) is their share of all tokens, `so_far` the
    share in this and all earlier iterations. `greedy` and `greedy_so_far` are the shares of tokens that greedy decoding emits in
    the round of this number, and up to it.
    """

    iteration: int
    tokens: int
    share: float
    so_far: float
    greedy: float
    greedy_so_far: float


@dataclass(frozen=True)
class Group:
    """Statistics of a group of tokens, for example of those at one position.

    `iteration` is the mean iteration from which on a token was right; `earlier` is the mean number of rounds by which that is
    earlier than in greedy decoding. `did_not_wait` is the share (0 to 1) of tokens that became right no later than the previous
    token, first tokens of sentences left out; None if there are only first tokens.
    """

    tokens: int
    iteration: float
    earlier: float
    did_not_wait: float | None


@dataclass(frozen=True)
class Corpus:
    """A decoded text: its name, the tokens of each sentence (at least one) in order, and the numbers of skipped lines by reason."""

    name: str
    sentences: tuple[tuple[Token, ...], ...]
    skipped: Mapping[str, int] = field(default_factory=dict)

    @property
    def tokens(self) -> list[Token]:
        """The tokens of all sentences, EOS included."""
        return [token for sentence in self.sentences for token in sentence]

    @property
    def iterations(self) -> int:
        """The sum of the iterations of all sentences; those of a sentence end when its last token becomes right."""
        return sum(max(token.iteration for token in sentence) for sentence in self.sentences)

    def by_iteration(self) -> list[Step]:
        """The statistics of each iteration, from 1 to the last iteration of Jacobi or round of greedy decoding, the later of them."""
        tokens = self.tokens
        settled, positions = Counter(token.iteration for token in tokens), Counter(token.position for token in tokens)
        steps, right, greedy = [], 0, 0
        for number in range(1, max(max(positions), max(settled)) + 1):
            right, greedy = right + settled[number], greedy + positions[number]
            shares = (count / len(tokens) for count in (settled[number], right, positions[number], greedy))
            steps.append(Step(number, settled[number], *shares))
        return steps

    def by_position(self) -> dict[int, Group]:
        """Statistics by position in the sentence (from 1)."""
        columns: list[list[Token]] = [[] for _ in range(max(map(len, self.sentences)))]
        for token in self.tokens:
            columns[token.position - 1].append(token)
        return {position: group(column) for position, column in enumerate(columns, start=1)}

    def by_kind(self) -> dict[Kind, Group]:
        """Statistics by kind of token (word start, punctuation, ...), only of the kinds that occur."""
        of_kind = {kind: [token for token in self.tokens if token.kind == kind] for kind in KINDS}
        return {kind: group(tokens) for kind, tokens in of_kind.items() if tokens}

    def to_dict(self) -> dict[str, Any]:
        """The name, the counts and all statistics of the text as a dictionary for JSON."""
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
            "overall": _rounded(group(self.tokens)),
            "by_iteration": list(map(_rounded, self.by_iteration())),
            "by_position": [{"position": position} | _rounded(of) for position, of in self.by_position().items()],
            "by_kind": [{"kind": kind} | _rounded(of) for kind, of in self.by_kind().items()],
        }


def group(tokens: Sequence[Token]) -> Group:
    """Compute the statistics of a group of `tokens` (at least one)."""
    waited = [token.waited for token in tokens if token.waited is not None]
    return Group(
        tokens=len(tokens),
        iteration=fmean(token.iteration for token in tokens),
        earlier=fmean(token.position - token.iteration for token in tokens),
        did_not_wait=waited.count(False) / len(waited) if waited else None,
    )


def _rounded(statistics: Step | Group) -> dict[str, Any]:
    """The fields by name, for JSON."""
    return {name: round(value, 4) if isinstance(value, float) else value for name, value in asdict(statistics).items()}


def kinds_by_id(pieces: Sequence[str], word_starts: Sequence[bool], eos: int) -> list[Kind]:
    """The kind of each piece of a vocabulary: the piece with id `eos` is the end of a sentence; `word_starts` tells word starts.

    A piece that does not start a word is "inside a word" if it has a letter or digit, else punctuation.
    """
    kinds: list[Kind] = []
    for number, (piece, starts) in enumerate(zip(pieces, word_starts, strict=True)):
        within: Kind = "inside a word" if any(map(str.isalnum, piece)) else "punctuation"
        kinds.append("end of sentence" if number == eos else "word start" if starts else within)
    return kinds


def tokens_of(picture: Picture, kinds: Sequence[Kind]) -> tuple[Token, ...]:
    """The tokens of a picture that `jacobi_graph` made of one sentence; `kinds` are their kinds, in order."""
    before = (None, *picture.settled[:-1])
    rows = zip(picture.settled, before, kinds, strict=True)
    return tuple(
        Token(position, iteration, kind, None if last is None else last < iteration)
        for position, (iteration, last, kind) in enumerate(rows, start=1)
    )


BLANK, TOO_LONG, UNLIKE = "blank", "too long for the model", "with another outcome than greedy decoding"
Watch = Callable[[Iterator[Hypothesis], int], Iterable[Hypothesis]]
"""A function (hypotheses, count) that returns the `count` hypotheses unchanged, and may show the progress meanwhile."""


def decode_corpus(bundle: Bundle, name: str, lines: Iterable[str], batch_size: int, watch: Watch) -> Corpus:
    """Decode `lines`, of one sentence each, by greedy and by Jacobi decoding, and return the statistics, named `name`.

    Blank lines, lines too long for the model, and sentences whose Jacobi iteration does not reach the output of greedy decoding
    (possible on a GPU) are skipped and counted. Greedy decoding has batches of `batch_size` sentences. `watch` gets the iterator of
    greedy outputs and their number, and returns the same outputs, to show progress. Raises InputError if no line is left.
    """
    engine = Engine(bundle, resolve(DecodingOptions(decoding="greedy", batch_size=batch_size), bundle))
    tokenizer, eos = bundle.tokenizer, bundle.verifier.config.eos
    kinds = kinds_by_id(tokenizer.vocabulary(), tokenizer.word_starts(), eos)
    skipped: Counter[str] = Counter()
    sources = _sources(bundle, lines, engine.verifier.longest_source, skipped)
    sentences = {}
    for found in watch(engine.decode([Sentence(number, ids) for number, ids in enumerate(sources)]), len(sources)):
        picture = jacobi_graph(engine.verifier, tokenizer, sources[found.number], found.ids)
        if any(cell and cell.mark == "wrong" for cell in picture.rows[-1]):
            skipped[UNLIKE] += 1
        else:
            sentences[found.number] = tokens_of(picture, [kinds[token] for token in found.ids])
    if not sentences:
        raise InputError(f"{name}: no sentence to decode" + (f" ({in_words(skipped)})" if skipped else ""))
    return Corpus(name, tuple(sentences[number] for number in sorted(sentences)), dict(skipped))


def in_words(skipped: Mapping[str, int]) -> str:
    """The numbers of skipped lines by reason as text, such as "2 blank, 1 too long for the model"."""
    return ", ".join(f"{count:,} {reason}" for reason, count in skipped.items())


def _sources(bundle: Bundle, lines: Iterable[str], longest: int, skipped: Counter[str]) -> list[list[int]]:
    sources = []
    for line in lines:
        ids = bundle.tokenizer.add_special_tokens(bundle.tokenizer.encode(line.strip()))
        reason = BLANK if not line.strip() else TOO_LONG if len(ids) > longest else None
        if reason is None:
            sources.append(ids)
        else:
            skipped[reason] += 1
    return sources
