"""The verifier: encodes sources, and scores many positions in one pass with the arithmetic of a single one."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from specdec_cli.decoding.accept import Rule
from specdec_cli.decoding.constraints import Constraints, Prefixes
from specdec_cli.decoding.execution.choose import choose_execution
from specdec_cli.decoding.execution.protocol import Execution
from specdec_cli.decoding.state import Draft, Scores, State, Verdict
from specdec_cli.model.attention import PrefixMask
from specdec_cli.model.cache import Cache, steps
from specdec_cli.model.drafter_config import Reads
from specdec_cli.model.transformer import Memory, Transformer

_NONE = Constraints()
MULTIPLE = 16
"""Key lengths are multiples of this, because attention adds up a ragged tail in another order."""


def round_up(number: int, multiple: int) -> int:
    """The smallest multiple of `multiple` that is at least `number`."""
    return -(-number // multiple) * multiple


class Verifier:
    """Encodes sources and scores drafts with `model`.

    Results are batch-invariant: a row's logits change neither with the block size nor with the other rows of the batch.
    To that end every length is a function of the row's own source: the padded source (`source_width`) and the capacity of
    the cache. The rows of a batch must share their source width. Every output begins with the token `forced`, if it is given
    (a language token, say). `constraints` apply to all methods but `raw_score`; their `forced` is replaced.
    """

    def __init__(self, model: Transformer, forced: int | None = None, constraints: Constraints | None = None) -> None:
        self.model, self.forced = model.eval(), forced
        self.constraints = replace(constraints or Constraints(), forced=forced)
        self.device = next(model.parameters()).device
        self.execution: Execution = choose_execution(model, self.constraints, self.device)

    @property
    def longest_source(self) -> int:
        """The largest number of source tokens, EOS included, that fits the model's positions."""
        return self.model.config.max_positions // MULTIPLE * MULTIPLE

    def source_width(self, tokens: int) -> int:
        """The padded length of a source of `tokens` ids."""
        return round_up(tokens, MULTIPLE)

    def capacity(self, source_width: int) -> int:
        """The number of cache positions of a row whose source is padded to `source_width`. Positions beyond it share the last one."""
        longest = max(source_width, round_up(self.constraints.min_length, MULTIPLE))
        return min(3 * longest + MULTIPLE, self.longest_source)

    def row_bytes(self, source_width: int) -> int:
        """Approximate memory of a row in bytes: caches, and activations of the encoder."""
        config, size = self.model.config, next(self.model.parameters()).element_size()
        keys_values = 2 * config.width * config.decoder_layers * (self.capacity(source_width) + source_width)
        working = source_width * (5 * config.width + 2 * config.feed_forward) + 2 * config.vocabulary_size
        return size * (keys_values + working)

    @torch.inference_mode()
    def begin(
        self, numbers: Sequence[int], sources: Sequence[Sequence[int]], max_length: int | None = None, *, reads: Reads = "states"
    ) -> State:
        """Encode `sources` (ids ending with EOS, all of one source width); outputs have at most `max_length` tokens.

        `reads` says what is used later: the decoder ("states"), only the encoder's states ("encoder"), or "nothing", which
        encodes nothing. For a model that writes two tokens per step, `max_length` is rounded down to a multiple of 2, and 1
        means 2. Raises ValueError for an id outside the source vocabulary.
        """
        config, rows = self.model.config, len(sources)
        if any(not 0 <= token < config.source_size for ids in sources for token in ids):
            raise ValueError(f"source ids must be below {config.source_size}, the size of the source vocabulary, and not negative")
        width = self.source_width(max(map(len, sources)))
        source = torch.tensor([[*ids, *[config.padding] * (width - len(ids))] for ids in sources], device=self.device)
        memory = self._memory(source, reads)
        capacity = self.capacity(width)
        tokens = source.new_full((rows, capacity), config.padding)
        tokens[:, : config.step] = tokens.new_tensor(config.start)
        ones = source.new_ones(rows)
        longest = max(config.step, (max_length or capacity) // config.step * config.step)
        return State(
            source=source,
            tokens=tokens,
            lengths=ones * config.step,
            limits=ones * min(capacity - config.step, config.step + longest),
            finished=torch.zeros_like(ones, dtype=torch.bool),
            numbers=torch.tensor(list(numbers), device=self.device),
            rounds=ones * 0,
            log_probabilities=torch.zeros(rows, capacity, device=self.device),
            memory=memory,
            cache=Cache.empty(
                config.decoder_layers if reads == "states" else 0,
                rows,
                capacity,
                config.heads,
                config.head_width,
                memory.states,
                masked=not self.model.batch_invariant,
            ),
        )

    def _memory(self, source: Tensor, reads: Reads) -> Memory:
        """The encoding of `source` ids (B, S), as much of it as `reads` says."""
        if reads == "states":
            return self.model.encode(source)
        if reads == "encoder":
            states, mask = self.model.encoder(source)
            return Memory(states, mask, [])
        empty = torch.empty(*source.shape, 0, device=self.device)
        return Memory(empty, PrefixMask(torch.zeros_like(source[:, :1]), 0, empty.dtype), [])

    def verify(self, state: State, draft: Draft, rule: Rule, *, with_scores: bool = False) -> Verdict:
        """One pass over the last accepted token and the draft (B, k), and the tokens that `rule` accepts.

        Log probabilities are those of the constrained logits: they sum to 1 over the allowed tokens.
        """
        return self.execution.verify(self.score, state, draft, rule, with_scores=with_scores)

    @torch.inference_mode()
    def score(self, state: State, draft: Draft) -> Scores:
        """One pass over the last accepted token and the draft (B, k), with constrained logits."""
        return self.execution.run(("score", self.constraints), self._score, state, draft.ids)

    @torch.inference_mode()
    def raw_score(self, state: State, draft: Draft) -> Scores:
        """Unconstrained logits (B, k + tokens per step, V) and states of one pass over the last step and the draft (B, k)."""
        return self.execution.run(("raw score",), self._raw_score, state, draft.ids)

    def constrain(self, scores: Tensor, state: State, drafted: Tensor, *, keep_forced: bool = False) -> Tensor:
        """Apply the constraints to `scores` (B, k + 1, V) of the slots before and after the `drafted` ids (B, k), perhaps in place."""
        if self.constraints == _NONE:
            return scores
        config, prefixes = self.model.config, Prefixes.of(state, drafted)
        return self.constraints.apply(scores, prefixes, config.eos, config.padding, keep_forced=keep_forced)

    @torch.inference_mode()
    def read(self, state: State, drafted: Tensor) -> Tensor:
        """Top states (B, k, W) of the last accepted token and all but the last of the `drafted` ids (B, k); no logits are computed."""
        return self.execution.run(("read",), self._read, state, drafted[:, :-1])

    def _read(self, state: State, drafted: Tensor) -> Tensor:
        return self._states(state, self.positions(state, drafted.shape[1] + 1), drafted)[:, : drafted.shape[1] + 1]

    def _states(self, state: State, positions: Tensor, drafted: Tensor) -> Tensor:
        """Top states (B, Q, W) at `positions` (B, Q): of the last accepted token or step, the draft, and padding up to Q."""
        step = self.model.config.step
        last = state.tokens.gather(1, positions[:, :step])
        ids = torch.cat([last, drafted, last[:, :1].expand(-1, positions.shape[1] - step - drafted.shape[1])], dim=1)
        ends = positions + 1 if step == 1 else (positions // step + 1) * step
        mask = PrefixMask(ends, state.cache.capacity, state.memory.states.dtype)
        return self.model.decode(ids, positions, mask, state.memory, state.cache.at(positions))

    def _score(self, state: State, drafted: Tensor) -> Scores:
        scores = self._raw_score(state, drafted)
        return Scores(self.constrain(scores.logits, state, drafted), scores.states)

    def _raw_score(self, state: State, drafted: Tensor) -> Scores:
        asked = drafted.shape[1] + self.model.config.step
        positions = self.positions(state, asked)
        states = self._states(state, positions, drafted)
        return Scores(self.model.output(states)[:, :asked], states[:, :asked])

    def positions(self, state: State, asked: int) -> Tensor:
        """Positions (B, Q) from the last accepted token or step on; Q is `asked`, rounded up to the model's row multiple."""
        count = round_up(asked, self.model.row_multiple)
        return (state.lengths[:, None] - self.model.config.step + steps(count, self.device)).clamp_max(state.cache.capacity - 1)
