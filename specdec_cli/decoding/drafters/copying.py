"""Drafters that copy a text: the source (input-guided drafting), or a text that comes with the sentence."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from specdec_cli.decoding.drafters import DrafterInputs, bounded
from specdec_cli.decoding.drafters.fallback import SHORTEST
from specdec_cli.decoding.graphs import to_device
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.state import Accepted, Draft, State, Verdict
from specdec_cli.model.cache import steps

LONGEST_SUFFIX = 3
"""Tokens of the longest suffix that the rule "unique-3" searches in the source."""
WINDOW = 4
"""Distance in tokens from the end of the last copy within which the rule "nearest" searches a token; after n
successive rounds that accepted no drafted token, n + 1 times as far.
"""
_NO_TEXT, _NO_TOKEN = -1, -2
"""Two ids that equal no token: before the start of a text, and before that of an output."""


@dataclass
class CopyState:
    """The drafter's data: the positions, from 0, from which to copy.

    `start` (B,) is the next position to copy, or -1 for an empty draft. `ends` (B,) is the position of the EOS.
    `misses` (B,) is the number of successive rounds that accepted no drafted token; only the rule "nearest" uses it.
    `text` (B, W) are the ids that are copied.
    """

    start: Tensor
    ends: Tensor
    misses: Tensor
    text: Tensor


def make_source_copy(inputs: DrafterInputs) -> "SourceCopy":
    """Make the drafter that copies by the rule of the option `match`."""
    bundle = inputs.bundle
    word_starts = torch.tensor(bundle.tokenizer.word_starts(), device=inputs.device)
    return SourceCopy(inputs.decoding.match, bundle.verifier.config.eos, word_starts, inputs.decoding.block_size)


class SourceCopy:
    """Copies from the source, at most `block_size` tokens a round (0: no limit). A sentence with a field `copy` has this text in place
    of the source, here and in the rules below.

    The first draft is the whole source. After a bifurcation the rule `match` says where the next draft begins:

    - "unique" (technical report, Ge et al. 2022, Algorithm 1): after a suffix of the output, of any length, that
      occurs exactly once in the source; if there is none, the draft is empty. Source and output begin with the same
      token, the decoder start (the report's o0 = x0), so the suffix may be the whole output.
    - "unique-3", the rule of the report's published code: the same for suffixes of at most 3 tokens (LONGEST_SUFFIX)
      without the decoder start.
    - "nearest", this toolkit's own rule: after the occurrence of the verifier's new token that is nearest to the end of
      the last copy. It is searched up to 4 tokens (WINDOW) ahead; after n successive rounds that accepted no
      drafted token, up to 4 (1 + n) tokens ahead and behind. If there is none, the token was inserted or replaced a word;
      which of them follows from `word_starts` (V,), true for tokens that begin a word. The draft is empty only at
      the end of the source.
    """

    def __init__(self, match: str, eos: int, word_starts: Tensor, block_size: int = 0) -> None:
        self.match, self.limit, self.capturable, self.reads_sentences = match, block_size, True, True
        self._eos = eos
        self._word_starts = word_starts

    def begin(self, state: State, sentences: Sequence[Sentence]) -> CopyState:
        return self.begin_with(state, [sentence.copy or sentence.source for sentence in sentences])

    def begin_with(self, state: State, texts: Sequence[Sequence[int]]) -> CopyState:
        """Return data for new rows. Row i copies the ids `texts[i]`, which end with EOS; without any ids, its drafts are empty.

        A text is cut to the room of its row (the cache's positions) with an EOS at the end.
        """
        width = state.tokens.shape[1]
        ends = to_device([max(min(len(text), width), 1) - 1 for text in texts], state.tokens.device)
        padded = [[*text[: width - 1], *[self._eos] * width][:width] for text in texts]
        return CopyState(torch.zeros_like(ends), ends, torch.zeros_like(ends), to_device(padded, ends.device))

    def propose(self, state: State, record: CopyState, size: int) -> Draft:
        """Return the rest of the source (B, k) from each row's `start`, without its EOS, which only the verifier
        predicts.

        A draft has at most `block_size` tokens, if that is not 0, and `size`, and does not exceed the row's limit.
        """
        left = torch.where(record.start < 0, 0, record.ends - record.start).minimum(state.limits - state.lengths).clamp_min(0)
        longest = bounded(self.limit, size) or record.text.shape[1]
        counts = left.masked_fill(state.finished, 0).clamp_max(longest)
        positions = (record.start[:, None] + steps(longest, counts.device)).clamp(0, record.text.shape[1] - 1)
        return Draft(record.text.gather(1, positions), counts)

    def observe(self, state: State, record: CopyState, verdict: Verdict) -> None:
        """Find for each row the source position at which the next draft begins."""
        accepted = verdict.accepted
        if self.match != "nearest":
            record.start.copy_(self._after_unique_suffix(state, accepted, record))
        else:
            self._realign(accepted, record)

    def _after_unique_suffix(self, state: State, accepted: Accepted, record: CopyState) -> Tensor:
        """The source position (B,) after a suffix of the output that occurs once in the source; -1 if there is none."""
        output, lengths = _with(state, accepted)
        # Both texts begin with the decoder start, which the rule "unique-3" leaves out.
        first, longest = (1, LONGEST_SUFFIX) if self.match == "unique-3" else (0, output.shape[1])
        text = torch.cat([output[:, :1], record.text], dim=1)
        positions = steps(text.shape[1], text.device)
        matching = _longest_matches(text, output, lengths, first, longest)
        matching = matching.masked_fill((positions < first) | (positions > record.ends[:, None]), 0)
        # The longest suffix that ends at some position occurs once if no other position has an equally long one.
        most = matching.amax(1)
        is_unique = (most > 0) & ((matching == most[:, None]).sum(1) == 1)
        return torch.where(is_unique, matching.argmax(1), -1)

    def _realign(self, accepted: Accepted, record: CopyState) -> None:
        source, ends = record.text, record.ends
        token = accepted.ids.gather(1, (accepted.counts - 1).clamp_min(0)[:, None])[:, 0]
        here = (record.start + accepted.bifurcation).minimum(ends)
        expected = source.gather(1, here[:, None])[:, 0]
        missed = torch.where(accepted.bifurcation == 0, record.misses + 1, 0)
        start = self._nearest(source, token, here, ends, WINDOW * (1 + missed), behind=missed > 0)
        start = torch.where(start < 0, self._after_edit(source, token, expected, here), start)
        on_track = token == expected
        record.start.copy_(torch.where(on_track, here + 1, start).minimum(ends))
        record.misses.copy_(missed.masked_fill(on_track, 0))

    def _nearest(self, source: Tensor, token: Tensor, here: Tensor, ends: Tensor, window: Tensor, behind: Tensor) -> Tensor:
        """The position after the `token` of the source nearest to `here`, ahead of it or also `behind` it; -1 if there is none."""
        positions = torch.arange(source.shape[1], device=source.device)
        distance = positions - here[:, None]
        reachable = (distance > 0) | ((distance < 0) & behind[:, None])
        matches = (source == token[:, None]) & reachable & (distance.abs() <= window[:, None]) & (positions < ends[:, None])
        # Of two positions at the same distance, the one ahead.
        cost = (2 * distance.abs() + (distance < 0)).masked_fill(~matches, 2 * source.shape[1] + 2)
        return torch.where(matches.any(1), cost.argmin(1) + 1, -1)

    def _after_edit(self, source: Tensor, token: Tensor, expected: Tensor, here: Tensor) -> Tensor:
        """Where to continue after a token that is not near by: it was inserted, or it replaced the word of the `expected` one."""
        begins = self._word_starts[source] | (source == self._eos)
        ahead = torch.arange(source.shape[1], device=source.device) > here[:, None]
        word_starts = begins & ahead
        next_word = torch.where(word_starts.any(1), word_starts.int().argmax(1), here)
        replaces_word = self._word_starts[token]
        whole_word = torch.where(replaces_word, next_word, here)
        begins_here = self._word_starts[expected] | (expected == self._eos)
        return torch.where(begins_here, whole_word, here + 1)


def _longest_matches(text: Tensor, output: Tensor, lengths: Tensor, first: int, longest: int) -> Tensor:
    """How many of the last tokens of each `output` (B, S), which has `lengths` (B,) tokens, end at each position of `text` (B, W).

    At most `longest` tokens (B, W), none of them before the output's position `first`.
    """
    positions = lengths[:, None] - longest + steps(longest, text.device)
    suffix = output.gather(1, positions.clamp_min(0)).masked_fill(positions < first, _NO_TOKEN).int()
    windows = F.pad(text.int(), (longest - 1, 0), value=_NO_TEXT).unfold(1, longest, 1)  # (B, W, longest): the tokens up to each position
    numbers = torch.arange(1, longest + 1, dtype=torch.int16, device=text.device)
    return longest - ((windows != suffix[:, None]) * numbers).amax(2)  # the tokens after the last different one


def _with(state: State, accepted: Accepted) -> tuple[Tensor, Tensor]:
    """The output (B, S) with the accepted tokens, and its lengths (B,), decoder start included."""
    slots = steps(accepted.ids.shape[1], accepted.ids.device)
    places = (state.lengths[:, None] + slots).clamp_max(state.tokens.shape[1] - 1)
    return state.tokens.scatter(1, places, accepted.ids), state.lengths + accepted.counts


def make_given(inputs: DrafterInputs) -> "GivenDrafts":
    """Make the drafter that copies given texts; it continues after a change by the rule of the option `match`."""
    return GivenDrafts(make_source_copy(inputs))


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
        device, longest = copy.ends.device, [min(max(sentence.first or width, sentence.prefix), width) for sentence in sentences]
        prefix = to_device([sentence.prefix for sentence in sentences], device).minimum(copy.ends)
        return GivenState(copy, to_device(longest, device), prefix)

    def propose(self, state: State, record: GivenState, size: int) -> Draft:
        """Return the rest of each row's text (B, k) from the place where the copy continues, cut to the row's
        longest draft; without the EOS and a token for the row's last place, which only the verifier predicts.
        """
        written = state.lengths - 1
        record.copy.start.copy_(torch.where(written < record.prefix, written, record.copy.start))
        draft = self._copier.propose(state, record.copy, size)
        room = (state.limits - state.lengths - 1).clamp_min(0)
        counts = draft.counts.minimum(record.longest).minimum(room)
        return Draft(draft.ids, counts, (record.prefix - written).clamp_min(0).minimum(counts))

    def observe(self, state: State, record: GivenState, verdict: Verdict) -> None:
        """Find for each row where its next copy begins, and set its longest draft."""
        self._copier.observe(state, record.copy, verdict)
        accepted = verdict.accepted
        whole = (accepted.drafted > 0) & (accepted.bifurcation == accepted.drafted)
        shorter = accepted.bifurcation.clamp_min(SHORTEST)
        longest = torch.where(whole, 2 * record.longest + 1, shorter).clamp_max(state.tokens.shape[1])
        record.longest.copy_(longest.masked_fill((record.copy.misses > 0) & ~_is_found(record.copy, accepted), 0))


def _is_found(copy: CopyState, accepted: Accepted) -> Tensor:
    """Whether the next copy of each row (B,) begins after a token that equals the last accepted one."""
    last = accepted.ids.gather(1, (accepted.counts - 1).clamp_min(0)[:, None])
    before = copy.text.gather(1, (copy.start - 1).clamp_min(0)[:, None])
    return ((last == before)[:, 0]) & (copy.start > 0)
