"""The verifier: encodes sources, and computes the logits of all positions of a draft in one pass."""

import os
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from specdec_cli.decoding.constraints import Prefixes, apply_constraints
from specdec_cli.decoding.graphs import CudaCapture, Graphs
from specdec_cli.decoding.options import Constraints, Exact, Rule, Sampled, constraints_of
from specdec_cli.decoding.sampling import perturbed
from specdec_cli.decoding.state import Draft, Scores, State, Verdict, Written
from specdec_cli.errors import ModelError
from specdec_cli.model.attention import PrefixMask
from specdec_cli.model.bundle import Bundle
from specdec_cli.model.cache import Cache, steps
from specdec_cli.model.drafter_config import Reads
from specdec_cli.model.network import Network, network_of
from specdec_cli.model.transformer import Memory, Transformer
from specdec_cli.processors import MKL_MODE, MKL_VARIABLE

_NONE = Constraints()


@runtime_checkable
class Searcher(Protocol):
    """Protocol of a network that also finds the best continuations of a beam search, without logits of all tokens."""

    def can_search(self, count: int, constraints: Constraints) -> bool:
        """Whether `continuations` finds `count` tokens under the constraints."""

    def continuations(self, states: Tensor, count: int, constraints: Constraints, written: Written) -> tuple[Tensor, Tensor]:
        """The `count` best tokens (N, `count`) that the constraints allow after each of the top states (N, W) of the outputs `written`, and
        their log probabilities.
        """


@runtime_checkable
class Judge(Protocol):
    """Protocol of a network that also chooses and accepts tokens, without logits of all of them."""

    def can_judge(self, rule: Rule, constraints: Constraints) -> bool:
        """Whether `judge` knows the rule and the constraints."""

    def judge(self, state: State, draft: Draft, rule: Rule, constraints: Constraints, *, with_scores: bool) -> Verdict:
        """The tokens that the rule accepts after one pass over the last accepted token and the draft; `with_scores` also their log
        probabilities.
        """

    def append(self, state: State, verdict: Verdict) -> None:
        """Append the accepted tokens of a verdict without log probabilities to `state` in place."""

    def repeats(self, source: Tensor, constraints: Constraints) -> Tensor | None:
        """`State.repeats` of `source` ids (B, S), if `judge` needs them for the constraints."""


@runtime_checkable
class Extender(Protocol):
    """Protocol of a network that decodes several tokens of each row greedily in one call."""

    def extend(self, state: State, draft: Draft, count: int, constraints: Constraints) -> Tensor:
        """The `count` tokens (B, count) that greedy decoding chooses after the draft of each row, which is taken as it is; after an EOS
        they are EOS.
        """


MULTIPLE = 16
"""Padded lengths of sources are multiples of this: for another number of keys, attention may add up in another
order.
"""
SHORTEST_FORM = 32
"""The smallest padded length of a source where these are powers of two."""
ENTRY = 4
"""Columns of `Verifier.entries` before the source: the sentence's number, its limit, and its random stream of two words."""


def round_up(number: int, multiple: int) -> int:
    """The smallest multiple of `multiple` that is at least `number`."""
    return -(-number // multiple) * multiple


def _warn_of_other_orders(network: Network) -> None:
    has_mkl: bool = torch.backends.mkl.is_available()  # type: ignore[no-untyped-call]
    computes_with_mkl = network.device.type == "cpu" and not network.batch_invariant and has_mkl
    if computes_with_mkl and MKL_VARIABLE not in os.environ:
        warnings.warn(
            f"{MKL_VARIABLE} is not set: decodings that should have equal outputs may differ; set it to {MKL_MODE} before torch is used",
            RuntimeWarning,
            stacklevel=3,
        )


class Verifier:
    """Encodes sources and scores drafts with `model`, or with a network that computes it otherwise.

    Results are batch-invariant: a row's logits change neither with the block size nor with the other rows of the
    batch. Therefore the padded length of a source (`source_width`) and the capacity of the cache depend on the row's
    own source only. The rows of a batch must share their source width. Every output begins with the token `forced`
    (a language token, say), if it is not None. `constraints` apply to all methods but `raw_score`; their field
    `forced` is replaced by `forced`.
    """

    def __init__(self, model: Transformer | Network, forced: int | None = None, constraints: Constraints | None = None) -> None:
        self.network, self.forced = network_of(model), forced
        self.constraints = replace(constraints or Constraints(), forced=forced)
        self.config, self.device = self.network.config, self.network.device
        self._judge = self.network if isinstance(self.network, Judge) else None
        _warn_of_other_orders(self.network)
        on_gpu = self.device.type == "cuda"
        self.graphs = Graphs(CudaCapture()) if on_gpu else None
        # Graphs are captured for each form, and the padded length changes no bit of a batch-invariant network.
        self.few_widths = on_gpu and self.network.batch_invariant

    @property
    def longest_source(self) -> int:
        """The largest number of source tokens, EOS included, that fits the model's positions."""
        return self.config.max_positions // MULTIPLE * MULTIPLE

    def source_width(self, tokens: int) -> int:
        """The length to which a source of `tokens` ids is padded: a multiple of MULTIPLE, or with `few_widths` a power of two."""
        if not self.few_widths:
            return round_up(tokens, MULTIPLE)
        return max(round_up(tokens, MULTIPLE), min(max(SHORTEST_FORM, 1 << (tokens - 1).bit_length()), self.longest_source))

    def capacity(self, source_width: int) -> int:
        """The number of cache positions, S, of a row whose source is padded to `source_width` ids; it bounds the
        output's length.
        """
        longest = max(source_width, round_up(self.constraints.min_length, MULTIPLE))
        return min(3 * longest + MULTIPLE, self.longest_source)

    def row_bytes(self, source_width: int, token_bytes: int = 0) -> int:
        """Approximate memory of a row in bytes, caches and activations of the encoder, for a source padded to
        `source_width` ids. Scores of the vocabulary take `token_bytes` for each token (0: two numbers).
        """
        config, size = self.config, self.network.value_bytes
        keys_values = 2 * config.heads_width * config.decoder_layers * (self.capacity(source_width) + source_width)
        working = source_width * (5 * config.width + 2 * config.feed_forward)
        return size * (keys_values + working) + (token_bytes or 2 * size) * config.vocabulary_size

    @torch.inference_mode()
    def begin(self, numbers: Sequence[int], sources: Sequence[Sequence[int]], max_length: int = 0, *, reads: Reads = "states") -> State:
        """Encode `sources` (ids ending with EOS, all of one source width) and return a state with empty outputs.

        `numbers` are the numbers of the sentences; their random streams are zeros. Outputs have at most `max_length`
        tokens (0: what fits the cache). `reads` says what is used later: the decoder ("states"), only the encoder's states ("encoder"), or
        "nothing", which encodes nothing. For a model that writes two tokens per step, `max_length` is rounded down
        to a multiple of 2, and 1 means 2. Raises ValueError for an id outside the source vocabulary.
        """
        return self.start(self.entries(numbers, sources, max_length).to(self.device), reads=reads)

    def entries(
        self,
        numbers: Sequence[int],
        sources: Sequence[Sequence[int]],
        max_length: int = 0,
        streams: Sequence[tuple[int, int]] = (),
        width: int = 0,
    ) -> Tensor:
        """What `start` needs of sentences (B, ENTRY + M), on the CPU; the arguments are those of `begin`, and their random `streams`.

        A row's limit depends on its own source only. Sources are padded to `width` tokens (0: the source width of the longest). Raises
        ValueError for an id outside the source vocabulary.
        """
        config = self.config
        if any(not 0 <= token < config.source_size for ids in sources for token in ids):
            raise ValueError(f"source ids must be below {config.source_size}, the size of the source vocabulary, and not negative")
        width = width or self.source_width(max(map(len, sources)))
        rows = []
        for number, ids, stream in zip(numbers, sources, streams or [(0, 0)] * len(sources), strict=True):
            capacity = self.capacity(round_up(len(ids), MULTIPLE) if self.few_widths else width)
            longest = max(config.step, (max_length or capacity) // config.step * config.step)
            limit = min(capacity - config.step, config.step + longest)
            rows.append([number, limit, *stream, *ids, *[config.padding] * (width - len(ids))])
        return torch.tensor(rows)

    @torch.inference_mode()
    def start(self, entries: Tensor, *, reads: Reads = "states", cached: bool = True) -> State:
        """The state of `entries` (B, ENTRY + M), which are on the verifier's device; see `begin`. No value is read. Without `cached` its
        cache has no layers.
        """
        config, rows = self.config, len(entries)
        source, streams = entries[:, ENTRY:].contiguous(), entries[:, 2:ENTRY].contiguous()
        memory = self._memory(source, reads)
        capacity = self.capacity(source.shape[1])
        tokens = source.new_full((rows, capacity), config.padding)
        for place, token in enumerate(config.start):
            tokens[:, place] = token
        ones = source.new_ones(rows)
        return State(
            source=source,
            tokens=tokens,
            lengths=ones * config.step,
            limits=entries[:, 1].contiguous(),
            finished=torch.zeros_like(ones, dtype=torch.bool),
            numbers=entries[:, 0].contiguous(),
            streams=streams,
            rounds=ones * 0,
            log_probabilities=torch.zeros(rows, capacity, device=self.device),
            memory=memory,
            repeats=None if self._judge is None else self._judge.repeats(source, self.constraints),
            cache=self.network.new_cache(memory, capacity)
            if cached and reads == "states"
            else Cache.empty(0, rows, capacity, 0, 0, memory.states),
        )

    def judges(self, rule: Rule) -> bool:
        """Whether `judge` can be called: the network chooses and accepts tokens by `rule`, under the verifier's constraints."""
        return self._judge is not None and self._judge.can_judge(rule, self.constraints)

    def judge(self, state: State, draft: Draft, rule: Rule, *, with_scores: bool = False) -> Verdict:
        """The tokens that the rule accepts after one pass over the last accepted token and the draft (B, k), `with_scores` with their log
        probabilities.
        """
        assert self._judge is not None
        return self._judge.judge(state, draft, rule, self.constraints, with_scores=with_scores)

    @torch.inference_mode()
    def extend(self, state: State, prefix: Draft, count: int, rule: Rule) -> Tensor:
        """Append the ids of `prefix` and `count` more tokens, chosen by `rule` one after the other, to `state` in place, and return the
        latter (B, count). The ids of a row after an EOS have no meaning.
        """
        if isinstance(self.network, Extender) and isinstance(rule, Exact):
            ids = self.network.extend(state, prefix, count, self.constraints)
            state.lengths += prefix.counts
            state.tokens.scatter_(1, state.lengths[:, None] + steps(count, self.device), ids)
            state.lengths += count
            return ids
        ids = state.tokens.new_empty(len(state.tokens), count)
        for number in range(count):
            predictions = self.predictions(state, prefix, rule)
            ids[:, number] = predictions.gather(1, prefix.counts[:, None])[:, 0]
            state.lengths += prefix.counts
            state.tokens.scatter_(1, state.lengths[:, None], ids[:, number : number + 1])
            state.lengths += 1
            prefix = Draft(prefix.ids[:, :0], torch.zeros_like(prefix.counts))
        return ids

    def predictions(self, state: State, draft: Draft, rule: Rule) -> Tensor:
        """The tokens (B, k + 1) that the rule chooses after the last accepted token and each token of the draft (B, k)."""
        if self.judges(rule):
            return self.judge(state, draft, rule).accepted.predictions
        scores = self.score(state, draft)
        logits = perturbed(scores.logits, rule, state.streams, state.lengths) if isinstance(rule, Sampled) else scores.logits
        return self.network.choices.first(logits)

    def append(self, state: State, verdict: Verdict) -> None:
        """Append the accepted tokens of a verdict of `judge` without log probabilities to `state` in place."""
        assert self._judge is not None
        self._judge.append(state, verdict)

    def _memory(self, source: Tensor, reads: Reads) -> Memory:
        """The encoding of `source` ids (B, S), as much of it as `reads` says."""
        if reads != "nothing":
            return self.network.encode(source, for_decoder=reads == "states")
        empty = torch.empty(*source.shape, 0, device=self.device)
        return Memory(empty, PrefixMask(torch.zeros_like(source[:, :1]), 0, empty.dtype), [])

    @torch.inference_mode()
    def score(self, state: State, draft: Draft) -> Scores:
        """Logits (B, k + 1, V), with constraints, and top states (B, k + 1, W) of one pass over the last accepted
        token and the draft (B, k).
        """
        scores = self.raw_score(state, draft)
        return Scores(self.constrain(scores.logits, state, draft.ids), scores.states)

    @torch.inference_mode()
    def raw_score(self, state: State, draft: Draft) -> Scores:
        """Unconstrained logits (B, k + t, V) and top states (B, k + t, W) of one pass over the last t tokens and the
        draft (B, k).

        t is the number of tokens that the model writes per step: 1, or 2 for orders that write pairs.
        """
        count = draft.ids.shape[1] + self.config.step
        states = self._states(state, self.positions(state, count), draft.ids)
        return Scores(self.network.project(states)[:, :count], states[:, :count])

    def constrain(self, scores: Tensor, state: State, drafted: Tensor, *, keep_forced: bool = False) -> Tensor:
        """Return `scores` (B, k + 1, V) with the constraints applied; the input may be changed in place.

        Slot i is the one after the first i of the `drafted` ids (B, k). `keep_forced` is as in apply_constraints.
        """
        if self.constraints == _NONE:
            return scores
        return self.constrain_prefixes(scores, Prefixes.of(state, drafted), keep_forced=keep_forced)

    def constrain_prefixes(self, scores: Tensor, prefixes: Prefixes, *, keep_forced: bool = False) -> Tensor:
        """`scores` (B, Q, V) after `prefixes`, with the constraints applied; see `constrain`."""
        if self.constraints == _NONE:
            return scores
        config = self.config
        return apply_constraints(self.constraints, scores, prefixes, config.eos, config.padding, keep_forced=keep_forced)

    @torch.inference_mode()
    def read(self, state: State, drafted: Tensor) -> Tensor:
        """Top states (B, k, W) of one pass over the last accepted token and all but the last of the `drafted` ids
        (B, k), without logits.
        """
        count = drafted.shape[1]
        return self._states(state, self.positions(state, count), drafted[:, :-1])[:, :count]

    def _states(self, state: State, positions: Tensor, drafted: Tensor) -> Tensor:
        """Top states (B, Q, W) at `positions` (B, Q): of the last accepted token or step, the draft, and padding up to Q."""
        step = self.config.step
        last = state.tokens.gather(1, positions[:, :step])
        ids = torch.cat([last, drafted, last[:, :1].expand(-1, positions.shape[1] - step - drafted.shape[1])], dim=1)
        ends = positions + 1 if step == 1 else (positions // step + 1) * step
        return self.network.decode(ids, positions, ends, state.memory, state.cache)

    def positions(self, state: State, asked: int) -> Tensor:
        """Positions (B, Q) of the last accepted token (or pair, for a model that writes two tokens per step) and
        those after it, counted from 0, the decoder start.

        Q is `asked`, the number of positions needed, rounded up to a multiple of the network's `row_multiple`.
        Positions beyond the cache's capacity become its last one.
        """
        count = round_up(asked, self.network.row_multiple)
        return (state.lengths[:, None] - self.config.step + steps(count, self.device)).clamp_max(state.cache.capacity - 1)


def bundle_verifier(bundle: Bundle) -> Verifier:
    """Make a Verifier of the bundle's model with the constraints that its bundle.json sets.

    Raises ModelError if a model whose order is not left to right has constraints, because they depend on the
    preceding tokens.
    """
    constraints, order = constraints_of(bundle), bundle.verifier.config.order
    if order != "left-to-right" and constraints != Constraints():
        raise ModelError(f"{bundle.path or 'the bundle'}: its generation settings are for order left-to-right, not {order}")
    verifier = Verifier(bundle.network or bundle.verifier, constraints.forced, constraints)
    if not bundle.captured:
        verifier.graphs = None
    return verifier
