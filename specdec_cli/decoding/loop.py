"""The decoding loop that exact and tolerant decodings share: propose, verify, observe, advance."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import torch

from specdec_cli.decoding.batch import open_batch
from specdec_cli.decoding.drafters import Drafter
from specdec_cli.decoding.options import Decoding
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.decoding.state import Accepted, Batch, Draft, State
from specdec_cli.decoding.verifier import Verifier


@dataclass(frozen=True)
class Round:
    """A round: the draft, the accepted tokens, and the state before they are appended to it. Onlookers, functions
    that observe a decoding, are called with it.
    """

    state: State
    draft: Draft
    accepted: Accepted


Onlooker = Callable[[Round], None]


@torch.inference_mode()
def decode(
    verifier: Verifier, drafter: Drafter, sentences: Iterable[Sentence], decoding: Decoding, onlooker: Onlooker | None = None
) -> Iterator[Hypothesis]:
    """Decode `sentences` and yield a hypothesis for each, in the order in which they finish.

    Of `decoding` count the acceptance rule, the batch size, the largest number of tokens and whether there are scores. All sources
    must have the same `Verifier.source_width`. `onlooker` is called with each Round, after the
    verification. This is generalized aggressive decoding (technical report, Ge et al. 2022, Section 3.2; Algorithm 1
    for a round).
    """
    begin = partial(_begin, verifier, drafter, decoding.max_length)
    rule, with_scores = decoding.acceptance, decoding.with_scores
    with open_batch(verifier.execution, sentences, begin, decoding.batch_size, rule, with_scores=with_scores) as batch:
        while (rows := batch.rows) is not None:
            state, memory = rows.state, rows.memory
            draft = drafter.propose(state, memory, 0)
            verdict = verifier.verify(state, draft, rule, with_scores=with_scores)
            if onlooker is not None:
                onlooker(Round(state, draft, verdict.accepted))
            drafter.observe(state, memory, verdict)
            yield from batch.advance(rows, verdict)


def _begin(verifier: Verifier, drafter: Drafter, max_length: int, entering: Sequence[Sentence]) -> Batch:
    state = verifier.begin([s.number for s in entering], [s.source for s in entering], max_length)
    state.streams = state.streams.new_tensor([s.stream for s in entering])
    return Batch(state, drafter.begin(state, entering))
