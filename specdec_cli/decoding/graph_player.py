"""A player whose rounds are CUDA graphs: a whole burst of rounds is one graph, which the host launches at once."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from specdec_cli.decoding.graphs import Buffers, Event, Graphs
from specdec_cli.decoding.pace import Report, Tallies
from specdec_cli.decoding.rounds import CapturableRound
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.state import NO_SENTENCE, Batch
from specdec_cli.model.rows import replace_rows, select_rows, tensors

ALONE = 8
"""Batches of up to this number of rows wait for each burst: with a late report their few rows would idle."""
PLAIN_ROUNDS, LATE_ROUNDS, DRAFTED_ROUNDS = 4, 2, 1
"""Rounds of a burst at least: without drafts, without drafts if reports are late, and with drafts."""
FIRST_TOKENS = 5
"""Tokens of a source for each round with drafts in the first burst of few rows: more than most rounds yield."""
REFILL_DIVISOR = 8
"""New sentences enter once an eighth of the rows is free."""
SHRINK_DIVISOR = 4
"""When no more sentences enter and at most a quarter of the rows is running, these move to smaller buffers."""
UNBOUNDED = 31
"""Tokens of the longest draft of a drafter without a limit of its own."""
NO_ROW = -1
"""Stands for a finished row in the tallies of a board."""


@dataclass(frozen=True)
class _Burst:
    """A burst that was launched with the sentences `numbers` in its R slots, and with drafts of up to `size` tokens. After `event` the CPU
    has its `board` of R rows, whose first columns are the `integers` integers of their results, and the `numbers_board` with the other
    results, if there are any.
    """

    numbers: "np.ndarray[tuple[int], np.dtype[np.int64]]"
    rounds: int
    size: int
    integers: int
    board: Tensor
    numbers_board: Tensor | None
    event: Event


class GraphPlayer:
    """Plays `round_`, whose `identity` is not None, with up to `rows` rows at fixed addresses.

    Every row has a slot, and new sentences take the slots of rows that have finished. A burst ends with a board of all rows, which the
    device copies to the CPU. With more than 8 rows (ALONE) `collect` returns the report of the burst before the last one, so that the
    device computes while the host reads; otherwise it waits for the last one. `counts`: reports have tallies.
    """

    def __init__(self, round_: CapturableRound, graphs: Graphs, rows: int, *, counts: bool = False) -> None:
        self.running = 0
        self._round, self._graphs, self._rows, self._counts = round_, graphs, rows, counts
        self._form: tuple[Hashable, int, int] = (None, 0, 0)
        self._buffers: Buffers[Batch] | None = None
        # The sentence in each slot, and the slot of each sentence that has not been reported.
        self._numbers, self._slots = np.empty(0, dtype=np.int64), dict[int, int]()
        self._bursts: list[_Burst] = []
        self._launched = self._entered = 0
        # Larger buffers, whose boards are still to be read.
        self._left: list[tuple[Hashable, Buffers[Batch]]] = []

    def admit(self, entering: Sequence[Sentence]) -> None:
        new = self._round.entries(entering)
        buffers = self._buffers or self._open(entering, new.shape[1])
        slots = np.flatnonzero(self._numbers == NO_SENTENCE)[: len(entering)]
        self._numbers[slots] = [sentence.number for sentence in entering]
        self._slots |= {sentence.number: slot for sentence, slot in zip(entering, slots.tolist(), strict=True)}
        self.running += len(entering)
        self._entered = min(len(sentence.source) for sentence in entering)
        # The last sentence fills up the form: its row is written several times.
        missing = power_of_two(len(entering)) - len(entering)
        entering = [*entering, *[entering[-1]] * missing]
        entries = torch.cat([torch.from_numpy(slots)[:, None], new], dim=1)
        if missing:
            entries = torch.cat([entries, entries[-1:].expand(missing, -1)])
        here = buffers.extra(("entries", len(entries)), entries.shape)
        self._graphs.capture.send(entries, here)

        reads, name = self._round.reads_sentences, ("enter", len(entries))

        def enter() -> None:
            rows, batch, state = here[:, 0].contiguous(), buffers.records(), self._round.start(here[:, 1:])
            whole = self._round.fills_caches
            if reads:
                buffers.kept[name] = state
            else:
                replace_rows(batch.record, rows, self._round.prepare(state, entering), whole=whole)
            replace_rows(batch.state, rows, state, whole=whole)

        buffers.run(name, enter)
        if reads:
            replace_rows(buffers.records().record, here[:, 0].contiguous(), self._round.prepare(buffers.kept[name], entering))

    def launch(self, rounds: int, size: int) -> None:
        if self._buffers is None:
            raise RuntimeError("no sentence was admitted")
        buffers, capture, drafts = self._shrunk(self._buffers), self._graphs.capture, self._round.drafts
        rounds = max(rounds, self._least_rounds())
        requested, size = size, padded_size(size or UNBOUNDED * self._round.unbounded) if drafts else 0
        state = buffers.batch.state
        slots, capacity = state.tokens.shape
        counts, tallied = self._counts, 2 * rounds if self._counts else 0
        # Two boards, since that of the burst before may not have been read yet; a graph copies one of them to the CPU.
        name = ("play", rounds, size, counts, self._launched % 2 if self._late else 0)
        integers, numbers = self._round.result_sizes(capacity)
        board = buffers.board(name, capture, (slots, integers + tallied))
        others = buffers.board((*name, "numbers"), capture, (slots, numbers), torch.float32) if numbers else None

        def play() -> None:
            batch, seen = buffers.records(), list[Tensor]()
            for _ in range(rounds):
                finished = state.finished.clone()
                draft, verdict = self._round.play(batch, size)
                if counts:
                    # Of the accepted tokens the last is the verifier's own.
                    tokens = torch.stack([draft.counts, verdict.accepted.counts - 1], dim=1)
                    seen.append(tokens.masked_fill(finished[:, None], NO_ROW))
            results = self._round.results(batch)
            board.copy_(torch.cat([results[0], *seen], dim=1), non_blocking=True)
            if others is not None and results[1] is not None:
                others.copy_(results[1], non_blocking=True)

        buffers.run(name, play)
        self._bursts.append(_Burst(self._numbers.copy(), rounds, requested, integers, board, others, capture.event()))
        self._launched += 1
        self._graphs.counts.bursts += 1

    def collect(self) -> Report:
        if self._late and len(self._bursts) < 2:
            return Report(0, [], 0, None)
        burst = self._bursts.pop(0)
        burst.event.synchronize()
        self._graphs.counts.waits += 1
        if not self._bursts:
            self._leave()
        board, hypotheses = burst.board.numpy(), []
        for row in np.flatnonzero((board[:, 0] != 0) & (burst.numbers != NO_SENTENCE)).tolist():
            number = int(burst.numbers[row])
            if (slot := self._slots.pop(number, None)) is not None:
                numbers = () if burst.numbers_board is None else burst.numbers_board[row].tolist()
                hypotheses.append(self._round.read(number, board[row, : burst.integers].tolist(), numbers))
                self._numbers[slot] = NO_SENTENCE
        self.running -= len(hypotheses)
        free = min(len(self._numbers), self._rows) - self.running
        tallies = _tallies(board, burst) if self._counts else None
        return Report(burst.rounds, hypotheses, free if REFILL_DIVISOR * free >= len(self._numbers) else 0, tallies)

    def close(self) -> None:
        """Give the buffers back for later players."""
        if self._buffers is not None:
            self._graphs.give_back(self._form, self._buffers)
            self._buffers = None
        self._leave()

    def _least_rounds(self) -> int:
        """The rounds of the next burst at least. With few rows, the first one has as many as most sentences of this length need."""
        drafts, tokens, self._entered = self._round.drafts, self._entered, 0
        if self._late:
            return DRAFTED_ROUNDS if drafts else LATE_ROUNDS
        needed = tokens // FIRST_TOKENS if drafts else tokens // 2
        return max(DRAFTED_ROUNDS if drafts else PLAIN_ROUNDS, 1 << max(needed.bit_length() - 1, 0))

    @property
    def _late(self) -> bool:
        """Whether reports are a burst late."""
        return len(self._numbers) > ALONE

    def _open(self, entering: Sequence[Sentence], width: int) -> Buffers[Batch]:
        """Take buffers with as many slots as sentences enter at first, all of them empty; `width` is that of their entries."""
        slots = power_of_two(len(entering))
        self._form = self._round.identity, slots, width

        def example() -> Batch:
            batch = self._round.begin(entering[:1])
            return select_rows(batch, torch.zeros(slots, dtype=torch.long, device=batch.state.lengths.device))

        self._buffers = self._graphs.take(self._form, example)
        if slots > len(entering):
            self._buffers.batch.state.finished.fill_(True)
        self._numbers = np.full(slots, NO_SENTENCE)
        return self._buffers

    def _shrunk(self, buffers: Buffers[Batch]) -> Buffers[Batch]:
        """`buffers`, or smaller ones with the running rows, if only a few are left."""
        here, slots = np.flatnonzero(self._numbers != NO_SENTENCE), len(self._numbers)
        fewer = max(power_of_two(len(here)), 2 * ALONE)
        # More than a quarter of free slots was offered to sentences before.
        if fewer >= slots or SHRINK_DIVISOR * len(here) > slots:
            return buffers
        self._left.append((self._form, buffers))
        identity, _, width = self._form
        self._form = identity, fewer, width
        rows = buffers.extra(("places", fewer), (fewer,))
        self._graphs.capture.send(torch.from_numpy(np.resize(here, fewer)), rows)
        smaller = self._graphs.take(self._form, lambda: select_rows(buffers.batch, rows))
        for new, old in zip(tensors(smaller.batch), tensors(buffers.batch), strict=True):
            torch.index_select(old, 0, rows, out=new)
        smaller.batch.state.finished[len(here) :] = True
        self._buffers, self._numbers = smaller, np.full(fewer, NO_SENTENCE)
        sentences = [number for number, _ in sorted(self._slots.items(), key=lambda item: item[1])]
        self._numbers[: len(here)] = sentences
        self._slots = {number: slot for slot, number in enumerate(sentences)}
        return smaller

    def _leave(self) -> None:
        """Give larger buffers back."""
        for form, buffers in self._left:
            self._graphs.give_back(form, buffers)
        self._left = []


def _tallies(board: "np.ndarray[tuple[int, int], np.dtype[np.int64]]", burst: _Burst) -> Tallies:
    """The tallies of a burst."""
    pairs = board[burst.numbers != NO_SENTENCE, -2 * burst.rounds :].reshape(-1, 2)
    return Tallies.of_rows(burst.rounds, burst.size, [(drafted, accepted) for drafted, accepted in pairs.tolist() if drafted != NO_ROW])


def power_of_two(number: int) -> int:
    """The smallest power of two that is at least `number`."""
    return 1 << (number - 1).bit_length()


def padded_size(tokens: int) -> int:
    """The size that is asked for in place of a draft of `tokens` tokens, so that few graphs are captured: 0, 3, 7, 15 and so on.

    With the last accepted token it is a power of two.
    """
    return max(4, power_of_two(tokens + 1)) - 1 if tokens else 0


def captured_sizes(limit: int, longest: int) -> list[int]:
    """The numbers of tokens that drafts have in captured rounds where 1 to `longest` are asked for: padded ones, and the drafter's own
    `limit` (0: none).
    """
    return sorted({min(padded_size(size), limit or padded_size(longest)) for size in range(1, longest + 1)})
