"""Drafters with a chosen rate of agreement, and a verifier with given logits."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from specdec_cli.decoding.drafters import Drafter, bounded
from specdec_cli.decoding.loop import decode_with
from specdec_cli.decoding.options import Decoding
from specdec_cli.decoding.rounds import RoundTrace
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.state import NO_SENTENCE, Draft, Scores, State, Verdict
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.transformer import Transformer
from specdec_cli.text.tokenize.sentencepiece import EOS, PADDING
from tests.fakes import SPECIAL, VOCABULARY, tiny_transformer


@cache
def _table_model() -> Transformer:
    """The model of all TableVerifiers, whose logits are not used."""
    return tiny_transformer(encoder_layers=0, decoder_layers=1, max_positions=64)


class TableVerifier(Verifier):
    """A verifier whose logits are read from a table (sentences, positions, V), whatever the prefix is."""

    def __init__(self, table: Tensor) -> None:
        super().__init__(_table_model())
        self.table = table

    def score(self, state: State, draft: Draft) -> Scores:
        """The logits of the table from each row's length on."""
        places = state.lengths[:, None] - 1 + torch.arange(draft.ids.shape[1] + 1)
        logits = self.table[state.numbers[:, None], places.clamp_max(self.table.shape[1] - 1)]
        return Scores(logits, torch.zeros(*places.shape, self.config.width))


Guess = Callable[[Tensor, torch.Generator], Tensor]
"""A function from the right ids (B, k) to proposed ids (B, k)."""


def right(ids: Tensor, generator: torch.Generator) -> Tensor:  # noqa: ARG001
    """Agree in all slots."""
    return ids


def wrong(ids: Tensor, generator: torch.Generator) -> Tensor:  # noqa: ARG001
    """Agree in no slot."""
    return (ids + 1) % VOCABULARY


def sometimes(ids: Tensor, generator: torch.Generator) -> Tensor:
    """Agree in about three of four slots."""
    return torch.where(torch.rand(ids.shape, generator=generator) < 0.75, ids, wrong(ids, generator))


def wrong_at_the_end(ids: Tensor, generator: torch.Generator) -> Tensor:
    """Agree in all slots but the last."""
    return torch.cat([ids[:, :-1], wrong(ids[:, -1:], generator)], dim=1)


def early_eos(ids: Tensor, generator: torch.Generator) -> Tensor:
    """Propose EOS in a random slot, and agree in the others."""
    chosen = torch.randint(0, ids.shape[1], (ids.shape[0], 1), generator=generator)
    return ids.scatter(1, chosen, EOS)


def special(ids: Tensor, generator: torch.Generator) -> Tensor:
    """Propose special tokens in some slots, and agree in the others."""
    drawn = torch.tensor(SPECIAL)[torch.randint(0, len(SPECIAL), ids.shape, generator=generator)]
    return torch.where(torch.rand(ids.shape, generator=generator) < 0.3, drawn, ids)


GUESSES: tuple[Guess, ...] = (right, wrong, sometimes, wrong_at_the_end, early_eos, special)


@dataclass
class Seen:
    """The fake drafter's record of rows: the numbers of their sentences, and of their accepted tokens."""

    numbers: Tensor
    tokens: Tensor


class FakeDrafter:
    """Applies `guess` to the right `outputs` (ids, by number of the sentence).

    With `ragged`, drafts have random lengths, which differ between rows. The drafter keeps a record of each row, and asserts that
    the loop moves the record with its row and reports all accepted tokens.
    """

    def __init__(self, outputs: Mapping[int, Sequence[int]], block_size: int, guess: Guess, *, ragged: bool = False, seed: int = 0) -> None:
        self.limit, self.guess, self.ragged, self.capturable = block_size, guess, ragged, False
        self.reads_sentences = False
        self.generator = torch.Generator().manual_seed(seed)
        longest = max(map(len, outputs.values())) + block_size
        self.table = torch.full((max(outputs) + 1, longest), PADDING)
        for number, ids in outputs.items():
            self.table[number, : len(ids)] = torch.tensor(ids)

    def begin(self, state: State, sentences: Sequence[Sentence]) -> Seen:  # noqa: ARG002
        """A record of rows without accepted tokens."""
        return Seen(state.numbers.clone(), state.lengths - 1)

    def propose(self, state: State, record: Seen, size: int) -> Draft:
        """The guess for each row. Asserts that the record matches the state."""
        there = state.numbers != NO_SENTENCE
        assert torch.equal(record.numbers[there], state.numbers[there])
        assert torch.equal(record.tokens, state.lengths - 1)
        rows, size = len(state.numbers), bounded(self.limit, size)
        if self.ragged:
            size = int(self._draw(size, 1))
        places = (state.lengths[:, None] - 1 + torch.arange(size)).clamp_max(self.table.shape[1] - 1)
        ids = self.table[state.numbers[:, None], places]
        counts = self._draw(size, rows) if self.ragged else torch.full((rows,), size)
        return Draft(self.guess(ids, self.generator) if size else ids, counts)

    def observe(self, state: State, record: Seen, verdict: Verdict) -> None:  # noqa: ARG002
        """Count the accepted tokens of each row."""
        assert verdict.states.shape[:2] == verdict.accepted.ids.shape
        record.tokens += verdict.accepted.counts

    def _draw(self, most: int, count: int) -> Tensor:
        return torch.randint(0, most + 1, (count,), generator=self.generator)


def drafts(drafter: Drafter, source: list[int], target: list[int]) -> list[list[int]]:
    """The drafts of each round of decoding `source` with a verifier whose output is `target`, both without EOS."""
    table = torch.zeros(1, len(target) + 1, VOCABULARY)
    for place, token in enumerate([*target, EOS]):
        table[0, place, token] = 1.0
    seen: list[list[int]] = []

    def look(round_: RoundTrace) -> None:
        seen.append(round_.draft.ids[0, : int(round_.draft.counts[0])].tolist())

    sentence = Sentence(0, [*source, EOS])
    (found,) = decode_with(TableVerifier(table), drafter, [sentence], Decoding(), look)
    assert found.ids == [*target, EOS]
    return seen
