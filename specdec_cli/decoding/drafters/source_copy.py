"""Input-guided drafting: the source itself is the draft, for output that repeats most of its input."""

import ctypes
from dataclasses import dataclass

import torch
from torch import Tensor

from specdec_cli.decoding.drafters.inputs import DrafterInputs
from specdec_cli.decoding.names import MATCH
from specdec_cli.decoding.state import Accepted, Draft, State, Verdict
from specdec_cli.kernels.build import Kernels
from specdec_cli.kernels.structs import CopyStruct
from specdec_cli.model.int8 import kernels_of

LONGEST_SUFFIX = 3
"""Tokens of the longest suffix that the rule "unique-3" looks for in the source."""
WINDOW = 4
"""How far from where the copy left off a token is looked for; as much again for every round that found nothing."""


@dataclass
class CopyState:
    """The drafter's record: where in the source to copy from, and how lost it is.

    `start` (B,) is the next source position to copy, or -1 where there is none; `ends` (B,) the position of the
    source's EOS; `misses` (B,) how many rounds in a row accepted nothing of a draft.
    """

    start: Tensor
    ends: Tensor
    misses: Tensor


def make(inputs: DrafterInputs) -> "SourceCopy":
    """Copies by the rule that is asked for, in the compiled kernels if the model uses them."""
    bundle, match = inputs.bundle, inputs.option(MATCH)
    word_starts = torch.tensor(bundle.tokenizer.word_starts(), device=inputs.device)
    return SourceCopy(str(match), bundle.verifier.config.eos, word_starts, inputs.block_size, kernels_of(bundle.verifier))


class SourceCopy:
    """Copies what follows in the source, at most `block_size` tokens a round if that is given.

    The first draft is the whole source. After a bifurcation the rule `match` says where to go on.
    "unique" is Algorithm 1 of the technical report: after a suffix of the output, of any length, that stands exactly once
    in the source; while there is none, no draft. Both begin with the same token, the decoder's start (the report's o0 = x0), so
    a suffix may be the whole output. "unique-3" is the rule of the report's published code: the suffix has at most
    LONGEST_SUFFIX tokens, the start not among them.
    "nearest" is ours: the verifier's new token is looked for near the place where the copy left off, and if it is
    not there, it was put in or took the place of a word, by whether pieces begin a word (`word_starts`, (V,)).
    It always has a draft; a wrong one costs no round. The compiled `kernels`, if given, do it in one call.
    """

    def __init__(self, match: str, eos: int, word_starts: Tensor, block_size: int = 0, kernels: Kernels | None = None) -> None:
        self.match, self.block_size = match, block_size
        self._eos = eos
        self._word_starts = word_starts
        self._kernels = kernels if match == "nearest" else None

    def begin(self, state: State) -> CopyState:
        """Copy from the start."""
        ends = state.memory.mask.ends[:, 0] - 1
        return CopyState(torch.zeros_like(ends), ends, torch.zeros_like(ends))

    def propose(self, state: State) -> Draft:
        """What is left of the source (B, k) from where the copy stands, without its EOS: that is the verifier's to say."""
        own: CopyState = state.drafting
        if self._kernels is not None:
            return self._copy(self._kernels, state, own)
        left = torch.where(own.start < 0, 0, own.ends - own.start).minimum(state.limits - state.lengths).clamp_min(0)
        counts = left.masked_fill(state.finished, 0).clamp_max(self.block_size or state.source.shape[1])
        steps = torch.arange(int(counts.max()), device=counts.device)
        places = (own.start[:, None] + steps).clamp(0, state.source.shape[1] - 1)
        return Draft(state.source.gather(1, places), counts)

    def observe(self, state: State, verdict: Verdict) -> None:
        """Find where to copy from next."""
        own: CopyState = state.drafting
        accepted = verdict.accepted
        if self.match != "nearest":
            own.start = self._after_unique_suffix(state, accepted, own.ends)
        elif self._kernels is not None:
            ids, counts, passed = accepted.ids.contiguous(), accepted.counts, accepted.bifurcation
            copy = ctypes.byref(self._describe(state, own))
            self._kernels.realign(copy, ids.data_ptr(), ids.shape[1], counts.data_ptr(), passed.data_ptr())
        else:
            self._realign(state, accepted, own)

    def _copy(self, kernels: Kernels, state: State, own: CopyState) -> Draft:
        rows, width = state.source.shape
        most = self.block_size or width
        ids, counts = own.ends.new_empty(rows * most), own.ends.new_empty(rows)
        running = (state.lengths.data_ptr(), state.limits.data_ptr(), state.finished.data_ptr())
        longest = kernels.copy(ctypes.byref(self._describe(state, own)), *running, most, ids.data_ptr(), counts.data_ptr())
        return Draft(ids[: rows * longest].view(rows, longest), counts)

    def _describe(self, state: State, own: CopyState) -> CopyStruct:
        """The record, whose start and misses the kernels write to, as they know it."""
        tensors = (state.source, own.ends, own.start, own.misses, self._word_starts)
        return CopyStruct(*state.source.shape, self._eos, WINDOW, *(tensor.data_ptr() for tensor in tensors))

    def _after_unique_suffix(self, state: State, accepted: Accepted, ends: Tensor) -> Tensor:
        """The source position (B,) after a suffix of the output that stands once in the source; -1 where there is none."""
        output, lengths = _with(state, accepted)
        bounded = self.match == "unique-3"
        first = 1 if bounded else 0
        text = torch.cat([output[:, :1], state.source], dim=1)  # begins as the output does
        places = torch.arange(text.shape[1], device=text.device)
        matching = (places >= first) & (places <= ends[:, None])
        start = torch.full_like(ends, -1)
        for back in range(LONGEST_SUFFIX if bounded else output.shape[1]):
            # Still matching at its end when all `back` + 1 last tokens are the text's.
            token = output.gather(1, (lengths[:, None] - 1 - back).clamp_min(0))
            same = (text == token).roll(back, 1)
            same[:, :back] = False
            matching = matching & same & (back < lengths - first)[:, None]
            found = matching.sum(1)
            start = torch.where((found == 1) & (start < 0), matching.int().argmax(1), start)
            if not bounded and not bool((found > 1).any()):
                break
        return start

    def _realign(self, state: State, accepted: Accepted, own: CopyState) -> None:
        source, ends = state.source, own.ends
        token = accepted.ids.gather(1, (accepted.counts - 1).clamp_min(0)[:, None])[:, 0]
        here = (own.start + accepted.bifurcation).minimum(ends)
        expected = source.gather(1, here[:, None])[:, 0]
        missed = torch.where(accepted.bifurcation == 0, own.misses + 1, 0)
        start = self._nearest(source, token, here, ends, WINDOW * (1 + missed), behind=missed > 0)
        start = torch.where(start < 0, self._after_edit(source, token, expected, here), start)
        on_track = token == expected
        own.start = torch.where(on_track, here + 1, start).minimum(ends)
        own.misses = missed.masked_fill(on_track, 0)

    def _nearest(self, source: Tensor, token: Tensor, here: Tensor, ends: Tensor, window: Tensor, behind: Tensor) -> Tensor:
        """The position after the source's `token` nearest to `here`, ahead or also `behind`; -1 where there is none."""
        places = torch.arange(source.shape[1], device=source.device)
        distance = places - here[:, None]
        reachable = (distance > 0) | ((distance < 0) & behind[:, None])
        found = (source == token[:, None]) & reachable & (distance.abs() <= window[:, None]) & (places < ends[:, None])
        # Ahead before behind where both are as near.
        cost = (2 * distance.abs() + (distance < 0)).masked_fill(~found, 2 * source.shape[1] + 2)
        return torch.where(found.any(1), cost.argmin(1) + 1, -1)

    def _after_edit(self, source: Tensor, token: Tensor, expected: Tensor, here: Tensor) -> Tensor:
        """Where to go on after a token that is not in the source: a new one, or another than the `expected` one."""
        begins = self._word_starts[source] | (source == self._eos)
        ahead = torch.arange(source.shape[1], device=source.device) > here[:, None]
        next_word = (begins & ahead).int().argmax(1)
        replaces_word = self._word_starts[token]
        whole_word = torch.where(replaces_word, next_word, here)
        begins_here = self._word_starts[expected] | (expected == self._eos)
        return torch.where(begins_here, whole_word, here + 1)


def _with(state: State, accepted: Accepted) -> tuple[Tensor, Tensor]:
    """The output (B, S) with what was accepted, and its lengths (B,), the decoder's start included."""
    steps = torch.arange(accepted.ids.shape[1], device=accepted.ids.device)
    places = (state.lengths[:, None] + steps).clamp_max(state.tokens.shape[1] - 1)
    return state.tokens.scatter(1, places, accepted.ids), state.lengths + accepted.counts
