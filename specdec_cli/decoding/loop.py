"""The loop behind every decoding that keeps the verifier's output: propose, verify, observe, advance."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import torch

from specdec_cli.decoding.accept import Rule
from specdec_cli.decoding.batch import open_batch
from specdec_cli.decoding.drafters import Drafter
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.decoding.state import Accepted, Draft, State
from specdec_cli.decoding.verifier import Verifier


@dataclass(frozen=True)
class Round:
    """A round: the state before it, the draft, and the accepted tokens. An onlooker gets it before the state advances."""

    state: State
    draft: Draft
    accepted: Accepted


@dataclass(frozen=True)
class LoopOptions:
    """The acceptance rule, the largest numbers of sentences in a batch and of tokens in an output; `with_scores`: log probabilities."""

    rule: Rule
    batch_size: int = 1
    max_length: int | None = None
    with_scores: bool = False


Onlooker = Callable[[Round], None]


@torch.inference_mode()
def decode(
    verifier: Verifier, drafter: Drafter, sentences: Iterable[Sentence], options: LoopOptions, onlooker: Onlooker | None = None
) -> Iterator[Hypothesis]:
    """Decode `sentences`, which must share their source width, and yield hypotheses as sentences finish.

    Generalized aggressive decoding (technical report, Section 3.2; Algorithm 1 for a round).
    """
    begin = partial(_begin, verifier, drafter, options.max_length)
    with open_batch(verifier.execution, sentences, begin, options.batch_size, options.rule, with_scores=options.with_scores) as batch:
        while (state := batch.state) is not None:
            draft = drafter.propose(state)
            verdict = verifier.verify(state, draft, options.rule, with_scores=options.with_scores)
            if onlooker is not None:
                onlooker(Round(state, draft, verdict.accepted))
            drafter.observe(state, verdict)
            yield from batch.advance(state, verdict)


def _begin(verifier: Verifier, drafter: Drafter, max_length: int | None, entering: Sequence[Sentence]) -> State:
    state = verifier.begin([s.number for s in entering], [s.source for s in entering], max_length)
    state.drafting = drafter.begin(state)
    return state
