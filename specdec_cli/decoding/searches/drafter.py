"""Decoding by the drafter alone: its drafts are output without verification."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import torch

from specdec_cli.decoding.accept import cut_at_end
from specdec_cli.decoding.batch import open_batch
from specdec_cli.decoding.drafters import Drafter
from specdec_cli.decoding.loop import Onlooker, Round
from specdec_cli.decoding.options import Decoding
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.decoding.state import Accepted, Batch, Draft, State, Verdict
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.drafter_config import Reads


@torch.inference_mode()
def decode_by_drafter(
    verifier: Verifier,
    drafter: Drafter,
    sentences: Iterable[Sentence],
    decoding: Decoding,
    reads: Reads,
    onlooker: Onlooker | None = None,
) -> Iterator[Hypothesis]:
    """Decode `sentences`, which must share their source width, with `drafter` alone (Generalized Aggressive
    Decoding, Table 1, "NAT drafter").

    A round is one drafting pass, whose whole block is output, up to EOS. Hypotheses have no scores. Of the
    verifier's model only what the drafter `reads` is computed: nothing, the encoder, or also the decoder's top states
    of every block but the last; never logits. Of the verifier's constraints only the forced first token is applied.
    """
    begin = partial(_begin, verifier, drafter, decoding.max_length, reads)
    with open_batch(verifier.execution, sentences, begin, decoding.batch_size, rule=None) as batch:
        while (rows := batch.rows) is not None:
            state = rows.state
            draft = drafter.propose(state, rows.memory, 0)
            verdict = _accept_all(verifier, state, draft)
            if onlooker is not None:
                onlooker(Round(state, draft, verdict.accepted))
            _observe(verifier, drafter, rows, verdict, reads)
            yield from batch.advance(rows, verdict)


def _begin(verifier: Verifier, drafter: Drafter, max_length: int, reads: Reads, entering: Sequence[Sentence]) -> Batch:
    state = verifier.begin([s.number for s in entering], [s.source for s in entering], max_length, reads=reads)
    rows = Batch(state, drafter.begin(state, entering))
    if verifier.forced is not None:
        ones = torch.ones_like(state.lengths)
        forced = _accept_all(verifier, state, Draft(ones[:, None] * verifier.forced, ones))
        _observe(verifier, drafter, rows, forced, reads)
        verifier.execution.advance(state, forced)
        state.rounds.zero_()  # no drafting pass yet
    return rows


def _observe(verifier: Verifier, drafter: Drafter, rows: Batch, verdict: Verdict, reads: Reads) -> None:
    """Let the drafter observe the verdict with the verifier's states, if it reads them and a row is not finished."""
    state = rows.state
    if reads == "states" and not bool((verdict.ended | state.finished).all()):
        drafter.observe(state, rows.memory, replace(verdict, states=verifier.read(state, verdict.accepted.ids)))


def _accept_all(verifier: Verifier, state: State, draft: Draft) -> Verdict:
    """A verdict without predictions and states that accepts the draft up to EOS and each row's limit."""
    counts, ended = cut_at_end(verifier.config.eos, state, draft.ids, draft.counts)
    nothing = draft.ids[:, :0]
    return Verdict(Accepted(draft.ids, counts, counts, nothing, draft.counts), ended, state.memory.states[:, :0], None)
