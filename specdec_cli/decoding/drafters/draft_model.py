"""Drafts by another model: a smaller model of the same task proposes the tokens that it would write after the present output."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from specdec_cli.decoding.bridge import Bridge, bridge_between
from specdec_cli.decoding.drafters import DrafterInputs, bounded
from specdec_cli.decoding.graphs import to_device
from specdec_cli.decoding.methods import LONGEST_DRAFT
from specdec_cli.decoding.options import Exact, Rule, Sampled
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.state import Draft, State, Verdict
from specdec_cli.decoding.verifier import Verifier, bundle_verifier, round_up
from specdec_cli.errors import UsageError
from specdec_cli.model.cache import steps

WIDER = 2
"""A draft model with another vocabulary reads sources of up to twice the verifier's padded source length, in tokens."""
DIVISOR = 4
"""A draft has at most a quarter of the positions that the draft model's cache has for a sentence, whatever block size is asked for."""


@dataclass
class DraftModelState:
    """The drafter's data: the rows of the draft model (`model_state`), and for which of them it drafts (B,), those whose source it reads.

    The cache of `model_state` is valid below its lengths - 1. Its tokens are those of the output, as far as the draft model has read
    them, and then its last draft.
    """

    model_state: State
    reads: Tensor


class DraftModel:
    """Drafts up to `block_size` tokens: those that another model, `model`, writes after the present output by greedy decoding.

    After a disagreement the draft model continues from what the verifier accepted: its cache is cut to the part that agrees, and the rest
    is read in one pass. With the verifier's vocabulary (no `bridge`), ids pass unchanged, and in sampling it draws with the noise of the
    verifier (`rule`). Otherwise the `bridge` converts the output by its text, word by word, and nothing is drafted for a sentence without
    a text. A sentence that the draft model cannot read has empty drafts.
    """

    def __init__(self, model: Verifier, block_size: int, bridge: Bridge | None, rule: Rule) -> None:
        self._model, self._bridge, self.limit = model, bridge, block_size
        self._rule = rule if isinstance(rule, Sampled) and bridge is None else Exact()
        self.capturable, self.reads_sentences = False, True

    def begin(self, state: State, sentences: Sequence[Sentence]) -> DraftModelState:
        """Encode the sources of new rows by the draft model."""
        width = min(self._width(state.source.shape[1]), self._model.longest_source)
        sources = [self._source(sentence) for sentence in sentences]
        reads = [0 < len(source) <= width for source in sources]
        eos = self._model.config.eos
        known = [source if is_read else [eos] for source, is_read in zip(sources, reads, strict=True)]
        numbers, streams = [sentence.number for sentence in sentences], [sentence.stream for sentence in sentences]
        model_state = self._model.start(self._model.entries(numbers, known, streams=streams, width=width).to(self._model.device))
        return DraftModelState(model_state, to_device(reads, model_state.lengths.device))

    def _width(self, width: int) -> int:
        """The padded length of the draft model's sources, for the verifier's of `width` tokens."""
        return width if self._bridge is None else round_up(WIDER * width, 16)

    def _source(self, sentence: Sentence) -> Sequence[int]:
        if self._bridge is None:
            return sentence.source
        return self._bridge.source(sentence.text) if sentence.text else ()

    def propose(self, state: State, record: DraftModelState, size: int) -> Draft:
        """Return the draft model's next tokens (B, k) as the verifier's; a draft ends before the draft model's EOS."""
        model_state = record.model_state
        longest = min(bounded(self.limit, size), model_state.tokens.shape[1] // DIVISOR)
        prefix, lengths = self._prefix(state, model_state)
        # A row has room for the output and the draft, and for one token that is read with it.
        active = record.reads & ~state.finished & (lengths + longest < model_state.tokens.shape[1])
        ids = self._extended(model_state, prefix, torch.where(active, lengths, 1), longest)
        counts = (ids != self._model.config.eos).cumprod(1).sum(1)
        if self._bridge is not None:
            ids, counts = self._bridged(state, model_state, lengths, ids, counts.masked_fill(~active, 0), longest)
        counts = counts.minimum(state.limits - state.lengths).clamp_min(0)
        return Draft(ids, counts.masked_fill(~active, 0))

    def observe(self, state: State, record: DraftModelState, verdict: Verdict) -> None:
        """Nothing: the next draft begins with what the output has then."""

    def _prefix(self, state: State, model_state: State) -> tuple[Tensor, Tensor]:
        """The output so far as tokens of the draft model (B, S), decoder start included, and its lengths (B,)."""
        if self._bridge is None:
            width = min(state.tokens.shape[1], model_state.tokens.shape[1])
            return state.tokens[:, :width], state.lengths.clamp_max(width)
        outputs = zip(state.tokens.tolist(), state.lengths.tolist(), state.finished.tolist(), strict=True)
        rows = [[0, *([] if is_finished else self._bridge.read(tokens[1:length]))] for tokens, length, is_finished in outputs]
        rows = [row[: model_state.tokens.shape[1]] for row in rows]
        return _padded(rows, state.tokens.device), to_device([len(row) for row in rows], state.tokens.device)

    def _extended(self, model_state: State, prefix: Tensor, lengths: Tensor, count: int) -> Tensor:
        """Let the draft model read the first `lengths` (B,) tokens of `prefix` (B, S), and write `count` more: these (B, count)."""
        places = steps(prefix.shape[1], prefix.device)
        same = (model_state.tokens[:, : prefix.shape[1]] == prefix) & (places < model_state.lengths[:, None])
        same[:, 0] = True  # both begin with their own decoder start
        agreed = same.cumprod(1).sum(1).minimum(lengths)
        model_state.tokens[:, 1 : prefix.shape[1]] = torch.where(
            places[1:] < lengths[:, None], prefix[:, 1:], model_state.tokens[:, 1 : prefix.shape[1]]
        )
        unread = lengths - agreed
        positions = agreed[:, None] + steps(int(unread.max()), unread.device)
        ids = model_state.tokens.gather(1, positions.clamp_max(model_state.tokens.shape[1] - 1))
        model_state.lengths.copy_(agreed)
        return self._model.extend(model_state, Draft(ids, unread, unread), count, self._rule)

    def _bridged(
        self, state: State, model_state: State, lengths: Tensor, ids: Tensor, counts: Tensor, longest: int
    ) -> tuple[Tensor, Tensor]:
        """The draft model's next tokens, of `ids` (B, k) the first `counts` (B,), as at most `longest` tokens of the verifier."""
        assert self._bridge is not None
        drafts: list[list[int]] = []
        for row, (count, read) in enumerate(zip(counts.tolist(), lengths.tolist(), strict=True)):
            output = state.tokens[row, 1 : int(state.lengths[row])].tolist()
            written = ids[row, :count].tolist()
            drafts.append(self._bridge.continued(output, model_state.tokens[row, 1:read].tolist(), written)[:longest] if count else [])
        return _padded(drafts, ids.device), to_device([len(draft) for draft in drafts], ids.device)


def _padded(rows: Sequence[Sequence[int]], device: torch.device) -> Tensor:
    """The ids of all rows (B, S), with zeros behind those of a shorter row."""
    width = max(map(len, rows), default=0)
    return to_device([[*row, *[0] * (width - len(row))] for row in rows], device).long().reshape(len(rows), width)


def make_draft_model(inputs: DrafterInputs) -> DraftModel:
    """Make the drafter of the bundle's draft model. Raises UsageError if it has none."""
    bundle = inputs.bundle
    if bundle.draft_model is None:
        raise UsageError("decoding draft-model: no draft model is given; --draft-model names one")
    other = bundle.draft_model
    bridge = bridge_between(bundle, other)
    return DraftModel(bundle_verifier(other), inputs.decoding.block_size or LONGEST_DRAFT, bridge, inputs.decoding.acceptance)
