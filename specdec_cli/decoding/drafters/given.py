"""Given drafts: each sentence comes with a text that its output may resemble, such as an earlier translation."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from specdec_cli.decoding.drafters.fallback import SHORTEST
from specdec_cli.decoding.drafters.inputs import DrafterInputs
from specdec_cli.decoding.drafters.source_copy import CopyState, SourceCopy, make
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.state import Accepted, Draft, State, Verdict


def make_given(inputs: DrafterInputs) -> "GivenDrafts":
    """Make the drafter that copies given texts; it continues after a change by the rule of the option `match`."""
    return GivenDrafts(make(inputs))


@dataclass
class GivenState:
    """The drafter's data: where in its text each row copies (`copy`), the longest draft in tokens (B,) that is allowed
    in the next round, and the number of tokens (B,) at the start of the text that begin the output.
    """

    copy: CopyState
    longest: Tensor
    prefix: Tensor


class GivenDrafts:
    """Copies the field `draft` of each sentence by the rule of `copier`, as input-guided drafting copies the source.

    The first draft has at most as many tokens as the sentence's field `first`, or those of its `prefix` if they are
    more. If all tokens of a draft are accepted, the longest draft of the row is doubled and increased by 1; after any
    other round it is the number of tokens that were accepted, at least SHORTEST (3). With the rule "nearest", a row has
    no draft after a round that accepted none of its tokens, until the last token of the output is found in the text. So
    a text that does not resemble the output costs little. A sentence without a text has empty drafts.
    """

    def __init__(self, copier: SourceCopy) -> None:
        self._copier, self.capturable, self.reads_sentences = copier, True, True

    @property
    def limit(self) -> int:
        """The largest number of tokens in a draft (0: no limit)."""
        return self._copier.limit

    def begin(self, state: State, sentences: Sequence[Sentence]) -> GivenState:
        """Return data for new rows, whose first copy begins at the start of their texts.

        A text is cut to the room of its row (the cache's positions) with an EOS at the end.
        """
        width = state.tokens.shape[1]
        copy = self._copier.begin_with(state, [sentence.draft for sentence in sentences])
        longest = copy.ends.new_tensor([min(max(sentence.first or width, sentence.prefix), width) for sentence in sentences])
        prefix = copy.ends.new_tensor([sentence.prefix for sentence in sentences]).minimum(copy.ends)
        return GivenState(copy, longest, prefix)

    def propose(self, state: State, memory: GivenState, size: int) -> Draft:
        """Return the rest of each row's text (B, k) from the place where the copy continues, cut to the row's
        longest draft; without the EOS and a token for the row's last place, which only the verifier predicts.
        """
        written = state.lengths - 1
        memory.copy.start.copy_(torch.where(written < memory.prefix, written, memory.copy.start))
        draft = self._copier.propose(state, memory.copy, size)
        room = (state.limits - state.lengths - 1).clamp_min(0)
        counts = draft.counts.minimum(memory.longest).minimum(room)
        return Draft(draft.ids, counts, (memory.prefix - written).clamp_min(0).minimum(counts))

    def observe(self, state: State, memory: GivenState, verdict: Verdict) -> None:
        """Find for each row where its next copy begins, and set its longest draft."""
        self._copier.observe(state, memory.copy, verdict)
        accepted = verdict.accepted
        whole = (accepted.drafted > 0) & (accepted.bifurcation == accepted.drafted)
        shorter = accepted.bifurcation.clamp_min(SHORTEST)
        longest = torch.where(whole, 2 * memory.longest + 1, shorter).clamp_max(state.tokens.shape[1])
        memory.longest.copy_(longest.masked_fill((memory.copy.misses > 0) & ~_is_found(memory.copy, accepted), 0))


def _is_found(copy: CopyState, accepted: Accepted) -> Tensor:
    """Whether the next copy of each row (B,) begins after a token that equals the last accepted one."""
    last = accepted.ids.gather(1, (accepted.counts - 1).clamp_min(0)[:, None])
    before = copy.text.gather(1, (copy.start - 1).clamp_min(0)[:, None])
    return ((last == before)[:, 0]) & (copy.start > 0)
