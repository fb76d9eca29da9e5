"""The batch of a decoding: filled from a queue of sentences, and refilled as its rows finish."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from specdec_cli.decoding.execution.protocol import NO_SENTENCE, Execution, Rows, SourceQueue
from specdec_cli.decoding.options import Rule
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.decoding.state import State, Verdict

REFILL_DIVISOR = 4
"""Refill the batch once a quarter of its rows have finished."""

Begin = Callable[[Sequence[Sentence]], State]
"""Encodes sentences and returns a state with one row for each."""


@contextmanager
def open_batch(
    execution: Execution, sentences: Iterable[Sentence], begin: Begin, batch_size: int, rule: Rule | None, *, with_scores: bool = False
) -> "Iterator[Batch]":
    """Take up to `batch_size` of the `sentences` and yield them as a Batch, which is refilled from the rest.

    `begin` makes rows of sentences. `rule` is the acceptance rule, or None if nothing is verified. `with_scores`:
    hypotheses have log probabilities, which the verdicts must then contain. Memory for the rows is released at the
    end of the `with` block.
    """
    queue = execution.queue(sentences, begin, ahead=-(-batch_size // REFILL_DIVISOR))
    with execution.rows(batch_size, rule) as rows:
        yield Batch(execution, queue, rows, batch_size, with_scores)


class Batch:
    """Up to `size` sentences that are decoded together; `state` holds their rows. It is None when all sentences are
    done, or if there were none.
    """

    def __init__(self, execution: Execution, queue: SourceQueue, rows: Rows, size: int, with_scores: bool) -> None:
        self._execution, self._queue, self._rows, self._with_scores = execution, queue, rows, with_scores
        entering = queue.take(size)
        self.state = None if entering is None else rows.begin(entering)

    def advance(self, state: State, verdict: Verdict) -> Iterator[Hypothesis]:
        """Append the accepted tokens of `verdict` to `state` in place. Once a quarter of the rows or more have
        finished, yield their hypotheses and set `self.state` to a batch with new sentences in their places, while
        there are any; before that, yield nothing.
        """
        finished = self._execution.advance(state, verdict) - self._rows.empty
        running = len(state.finished) - self._rows.empty
        if REFILL_DIVISOR * finished >= running:
            yield from _finished_hypotheses(state, self._with_scores)
            entering = self._queue.take(finished)
            if finished < running:
                self.state = self._rows.exchange(state, entering)
            else:
                self.state = None if entering is None else self._rows.begin(entering)


def _finished_hypotheses(state: State, with_scores: bool) -> Iterator[Hypothesis]:
    finished, numbers, lengths, rounds = (part.tolist() for part in (state.finished, state.numbers, state.lengths, state.rounds))
    for row, number in enumerate(numbers):
        if finished[row] and number != NO_SENTENCE:
            ids = state.tokens[row, 1 : lengths[row]].tolist()
            each = tuple(state.log_probabilities[row, 1 : lengths[row]].tolist()) if with_scores else ()
            yield Hypothesis(number, ids, rounds[row], sum(each) if with_scores else None, (), each)
