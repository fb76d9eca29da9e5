"""Beam search as a round: one step of all hypotheses, without a value that the host reads, so that it can be captured as a CUDA graph.

It finds the hypotheses of `beam_search`. Those of a sentence share a row and a cache in which nothing is copied: a table tells which
hypothesis wrote each position of a prefix (see model/cache.py), as in native/beam.h.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from specdec_cli.decoding.beam import best_pairs, best_tokens, sentence_of
from specdec_cli.decoding.constraints import Prefixes
from specdec_cli.decoding.options import Decoding
from specdec_cli.decoding.rounds import Onlooker
from specdec_cli.decoding.sentence import Alternative, Hypothesis, Sentence
from specdec_cli.decoding.state import Accepted, Batch, Draft, State, Verdict, Written
from specdec_cli.decoding.verifier import Searcher, Verifier
from specdec_cli.model.cache import Cache, steps

TOKEN_BYTES = 28
"""Largest number of bytes of a token's scores and keys at a time: in float32, besides a key of 8 bytes."""


@dataclass
class Search:
    """The K hypotheses of each of B sentences: the record of a batch.

    `tokens` (B, K, S) begin with the decoder start, `scores` (B, K) are log probabilities; the best hypothesis is the first. Those that
    have ended, the best one first, are in `ended` (B, K, S), of `lengths` (B, K), 0 for none; `log_probabilities` (B, K) are theirs, and
    `ranks` (B, K), in float64, what they become by the length penalty.
    """

    tokens: Tensor
    scores: Tensor
    ended: Tensor
    lengths: Tensor
    log_probabilities: Tensor
    ranks: Tensor


@dataclass(frozen=True)
class _Candidates:
    """The best C continuations of each sentence, the best one first: log probabilities (B, C), the hypotheses (B, C) that they continue,
    and tokens (B, C, step).
    """

    scores: Tensor
    parents: Tensor
    tokens: Tensor

    def first(self, order: Tensor) -> tuple[Tensor, Tensor]:
        """Parents (B, N) and tokens (B, N, step) of the candidates with the indices `order` (B, N)."""
        return self.parents.gather(1, order), self.tokens.gather(1, order[:, :, None].expand(-1, -1, self.tokens.shape[2]))


class BeamRound:
    """A step of beam search, by single tokens or pairs; see `beam_search`. Rows are sentences, the batch's record is a Search.

    `decoding` says the options of the search and the largest number of tokens. There are no drafts.
    """

    fills_caches = drafts = unbounded = reads_sentences = False

    def __init__(self, verifier: Verifier, decoding: Decoding) -> None:
        self._verifier, self._decoding, self._search = verifier, decoding, decoding.search
        network = verifier.network
        self._searcher = network if isinstance(network, Searcher) and network.can_search(self._width, verifier.constraints) else None

    @property
    def identity(self) -> Hashable:
        return BeamRound, self._search, self._decoding.max_length

    @property
    def _width(self) -> int:
        """The number of continuations by a token that count: even if all hypotheses end, enough others remain."""
        return min(2 * self._search.beam_size, self._verifier.config.vocabulary_size)

    @property
    def token_bytes(self) -> int:
        """Bytes for each hypothesis and token of the vocabulary: logits, log probabilities and keys by which they are ordered, unless
        kernels find the best tokens (0).
        """
        return 0 if self._searcher is not None else TOKEN_BYTES

    def begin(self, entering: Sequence[Sentence]) -> Batch:
        state = self.start(self.entries(entering).to(self._verifier.device))
        capacity = self._search.beam_size * state.tokens.shape[1]
        whole = self._verifier.network.new_cache(state.memory, capacity).whole
        return Batch(replace(state, cache=Cache(whole, state.cache.orders)), self.prepare(state, entering))

    def entries(self, entering: Sequence[Sentence]) -> Tensor:
        numbers, sources = zip(*((sentence.number, sentence.source) for sentence in entering), strict=True)
        return self._verifier.entries(numbers, sources, self._decoding.max_length)

    def start(self, entries: Tensor) -> State:
        state, hypotheses = self._verifier.start(entries, cached=False), self._search.beam_size
        orders = steps(hypotheses, entries.device)[:, None].expand(len(entries), -1, state.tokens.shape[1]).contiguous()
        return replace(state, cache=Cache(state.cache.whole, orders))

    def prepare(self, state: State, entering: Sequence[Sentence]) -> Search:  # noqa: ARG002
        hypotheses = self._search.beam_size
        tokens = state.tokens[:, None].expand(-1, hypotheses, -1).contiguous()
        nothing = torch.full(tokens.shape[:2], -torch.inf, device=tokens.device)
        scores = torch.where(steps(hypotheses, tokens.device) == 0, 0.0, nothing)
        return Search(tokens, scores, tokens.clone(), tokens[:, :, 0] * 0, nothing, nothing.double())

    def play(self, batch: Batch, size: int, *, trim: bool = False, onlooker: Onlooker | None = None) -> tuple[Draft, Verdict]:  # noqa: ARG002
        """Play a round. The tokens of the verdict are those of the best hypotheses."""
        state, search = batch.state, batch.record
        step, lengths, running = self._verifier.config.step, state.lengths, ~state.finished
        candidates = self._candidates(state, search)
        scores = candidates.scores
        with_end = (candidates.tokens == self._verifier.config.eos).any(2)
        full = lengths + step >= state.limits
        ends = (with_end | full[:, None]) & (scores > -torch.inf) & running[:, None]
        self._keep_ended(lengths, search, candidates, ends[:, : self._search.beam_size])
        unended = scores.masked_fill(with_end, -torch.inf)
        state.rounds += running
        state.finished |= full | self._is_done(state, search, unended.amax(1))
        best, order = unended.sort(dim=1, descending=True, stable=True)
        best, order = best[:, : self._search.beam_size], order[:, : self._search.beam_size]
        parents, tokens = candidates.first(order)
        search.tokens.copy_(_extended(search.tokens, lengths, parents, tokens))
        assert state.cache.orders is not None
        themselves = steps(self._search.beam_size, lengths.device)[:, None].expand(tokens.shape)
        state.cache.orders.copy_(_extended(state.cache.orders, lengths, parents, themselves))
        search.scores.copy_(best)
        lengths += step * ~state.finished
        ones = running.long() * step
        accepted = Accepted(tokens[:, 0], ones, ones * 0, tokens[:, 0], ones * 0)
        return Draft(tokens[:, 0, :0], ones * 0), Verdict(accepted, state.finished, state.memory.states[:, :0], None)

    def hypotheses(self, batch: Batch) -> list[Hypothesis]:
        integers, numbers = self.results(batch)
        finished = batch.state.finished.nonzero()[:, 0].tolist()
        names = batch.state.numbers.tolist()
        return [self.read(names[row], integers[row].tolist(), numbers[row].tolist()) for row in finished]

    def result_sizes(self, capacity: int) -> tuple[int, int]:
        return 2 + self._search.n_best * (1 + capacity), self._search.n_best

    def results(self, batch: Batch) -> tuple[Tensor, Tensor]:
        state, search, best = batch.state, batch.record, self._search.n_best
        head = torch.stack([state.finished.long(), state.rounds], dim=1)
        return torch.cat([head, search.lengths[:, :best], search.ended[:, :best].flatten(1)], dim=1), search.log_probabilities[:, :best]

    def read(self, number: int, integers: Sequence[int], numbers: Sequence[float]) -> Hypothesis:
        config, best, alternatives = self._verifier.config, self._search.n_best, []
        _, rounds, *rest = integers
        tokens, capacity = rest[best:], len(rest[best:]) // best
        for rank, length, log_probability in zip(range(best), rest, numbers, strict=False):
            if length:
                folded = tokens[rank * capacity : rank * capacity + length][config.step :]
                penalty = float(len(folded)) ** self._search.length_penalty
                alternatives.append(Alternative(sentence_of(folded, config), log_probability, log_probability / penalty))
        return Hypothesis(number, alternatives[0].ids, rounds, alternatives[0].log_probability, tuple(alternatives))

    def _candidates(self, state: State, search: Search) -> _Candidates:
        """The best continuations of all hypotheses."""
        verifier, config = self._verifier, self._verifier.config
        rows, hypotheses, _ = search.tokens.shape
        positions = (state.lengths[:, None] - config.step + steps(config.step, state.lengths.device)).repeat(1, hypotheses)
        ends = positions + 1 if config.step == 1 else (positions // config.step + 1) * config.step
        ids = search.tokens.gather(2, positions.view(rows, hypotheses, config.step)).view(rows, -1)
        states = verifier.network.decode(ids, positions, ends, state.memory, state.cache)
        if self._searcher is not None:
            repeats = None if state.repeats is None else _each(state.repeats, hypotheses)
            written = Written(search.tokens.flatten(0, 1), _each(state.lengths, hypotheses), repeats)
            tokens, following = self._searcher.continuations(states.flatten(0, 1), self._width, verifier.constraints, written)
            scores, parents, columns = best_tokens(search.scores, following.view(rows, hypotheses, -1), 2 * hypotheses)
            tokens = tokens.view(rows, -1).gather(1, parents * self._width + columns)
            return _Candidates(scores, parents, tokens[:, :, None])
        logits = verifier.network.project(states).view(rows * hypotheses, config.step, -1)
        prefixes = Prefixes(
            search.tokens.flatten(0, 1), *(_each(part, hypotheses) for part in (state.lengths[:, None], state.limits, state.source))
        )
        likely = verifier.network.choices.log_softmax(logits)
        likely = verifier.constrain_prefixes(likely, prefixes, keep_forced=self._search.stop == "fairseq")
        following = likely.view(rows, hypotheses, config.step, -1)
        if config.step == 1:
            scores, parents, tokens = best_tokens(search.scores, following[:, :, 0], 2 * hypotheses)
            return _Candidates(scores, parents, tokens[:, :, None])
        return _Candidates(*best_pairs(search.scores, following[:, :, 0], following[:, :, 1], config.eos))

    def _keep_ended(self, lengths: Tensor, search: Search, candidates: _Candidates, ends: Tensor) -> None:
        """Keep those of the first K candidates that `ends` (B, K) says, if they are among the best that have ended."""
        hypotheses = ends.shape[1]
        if self._search.stop == "fairseq":
            ends = ends & ((search.lengths > 0).sum(1, keepdim=True) + ends.cumsum(1) <= hypotheses)
        first = steps(hypotheses, ends.device).expand(ends.shape)
        parents, tokens = candidates.first(first)
        scores = candidates.scores[:, :hypotheses].masked_fill(~ends, -torch.inf)
        ranks = scores.double() / self._penalty(lengths)[:, None]
        ranks, order = torch.cat([search.ranks, ranks], dim=1).sort(dim=1, descending=True, stable=True)
        order = order[:, :hypotheses]
        new = (lengths[:, None] + tokens.shape[2]) * ends
        ended = torch.cat([search.ended, _extended(search.tokens, lengths, parents, tokens)], dim=1)
        search.ended.copy_(ended.gather(1, order[:, :, None].expand_as(search.ended)))
        search.lengths.copy_(torch.cat([search.lengths, new], dim=1).gather(1, order))
        search.log_probabilities.copy_(torch.cat([search.log_probabilities, scores], dim=1).gather(1, order))
        search.ranks.copy_(ranks[:, :hypotheses])

    def _is_done(self, state: State, search: Search, running: Tensor) -> Tensor:
        """Which searches (B,) stop, given the log probability (B,) of the best running hypothesis of each."""
        enough, lengths, stop = search.lengths[:, -1] > 0, state.lengths, self._search.stop
        if stop in ("first", "fairseq"):
            return enough | (running == -torch.inf)
        if stop == "never" and self._search.length_penalty > 0:
            most = self._decoding.max_length
            lengths = lengths * 0 + most if most else state.limits - self._verifier.config.step
        return (running == -torch.inf) | (enough & (running.double() / self._penalty(lengths) <= search.ranks[:, -1]))

    def _penalty(self, lengths: Tensor) -> Tensor:
        """By what log probabilities of outputs of `lengths` tokens are divided."""
        return lengths.double() ** self._search.length_penalty


def _extended(prefixes: Tensor, lengths: Tensor, parents: Tensor, values: Tensor) -> Tensor:
    """The prefixes (B, N, S) with the indices `parents` (B, N) among those of their row, (B, K, S), with `values` (B, N, step) behind the
    first `lengths` (B,) ones.
    """
    chosen = prefixes.gather(1, parents[:, :, None].expand(-1, -1, prefixes.shape[2]))
    positions = lengths[:, None, None] + steps(values.shape[2], lengths.device)
    return chosen.scatter(2, positions.expand(values.shape), values)


def _each(part: Tensor, hypotheses: int) -> Tensor:
    """The rows of `part` (B, ...), each `hypotheses` times."""
    return part[:, None].expand(-1, hypotheses, *part.shape[1:]).flatten(0, 1)
