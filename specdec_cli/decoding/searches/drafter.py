"""The drafter alone: its blocks are the output, and nothing verifies them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import torch

from specdec_cli.decoding.drafters import Drafter
from specdec_cli.decoding.loop import Onlooker, Round, finished_rows
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.decoding.state import Accepted, Draft, State, Verdict
from specdec_cli.decoding.verifier import Verifier, cut_at_end
from specdec_cli.model.drafter_config import Reads
from specdec_cli.model.rows import keep_rows


@dataclass(frozen=True)
class DrafterOptions:
    """What the drafter reads of the verifier, sentences at a time, and the most tokens a sentence."""

    reads: Reads
    batch_size: int = 1
    max_length: int | None = None


@torch.inference_mode()
def decode_by_drafter(
    verifier: Verifier, drafter: Drafter, sentences: Iterable[Sentence], options: DrafterOptions, onlooker: Onlooker | None = None
) -> Iterator[Hypothesis]:
    """Decode `sentences`, which share their source width, by what `drafter` says alone (GAD, Table 1, "NAT drafter").

    A round is one drafting pass, and all of its block is output, up to EOS. Hypotheses have no scores. Of the verifier's model
    only what the drafter reads is computed: nothing, its encoder, or also its decoder's top states of each block that is output,
    but for the last; never logits. Of the verifier's constraints only the forced first token holds.
    """
    waiting = iter(sentences)
    with verifier.placing(options.batch_size) as place:
        while entering := list(islice(waiting, options.batch_size)):
            state = place(_begin(verifier, drafter, entering, options))
            while state is not None:
                draft = drafter.propose(state)
                verdict = _take_all(verifier, state, draft)
                if onlooker is not None:
                    onlooker(Round(state, draft, verdict.accepted))
                done = _advance(verifier, drafter, state, verdict, options.reads)
                if done > state.vacant:
                    yield from finished_rows(state, with_scores=False)
                    state = place(keep_rows(state, ~state.finished)) if done < len(state.finished) else None


def _begin(verifier: Verifier, drafter: Drafter, entering: Sequence[Sentence], options: DrafterOptions) -> State:
    state = verifier.begin([s.number for s in entering], [s.source for s in entering], options.max_length, reads=options.reads)
    state.drafting = drafter.begin(state)
    if verifier.forced is not None:
        ones = torch.ones_like(state.lengths)
        forced = _take_all(verifier, state, Draft(ones[:, None] * verifier.forced, ones))
        _advance(verifier, drafter, state, forced, options.reads)
        state.rounds.zero_()  # no drafting pass yet
    return state


def _advance(verifier: Verifier, drafter: Drafter, state: State, verdict: Verdict, reads: Reads) -> int:
    """Take the round into `state`, and the states that it leads to into the drafter's record; the number of finished rows."""
    if reads == "states" and not bool((verdict.ended | state.finished).all()):
        drafter.observe(state, replace(verdict, states=verifier.read(state, verdict.accepted.ids)))
    return verifier.advance(state, verdict)


def _take_all(verifier: Verifier, state: State, draft: Draft) -> Verdict:
    """All of `draft` up to EOS and the limit; no predictions, no states."""
    counts, ended = cut_at_end(verifier.model.config.eos, state, draft.ids, draft.counts)
    nothing = draft.ids[:, :0]
    return Verdict(Accepted(draft.ids, counts, counts, nothing, draft.counts), ended, state.memory.states[:, :0], None)
