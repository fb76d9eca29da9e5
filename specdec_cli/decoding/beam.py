"""Beam search over single tokens or pairs, by one model or by several whose probabilities are averaged."""

from collections.abc import Iterator, Sequence
from math import inf, log

import torch
from torch import Tensor

from specdec_cli.decoding import graphs
from specdec_cli.decoding.options import Decoding
from specdec_cli.decoding.sentence import Alternative, Hypothesis, Sentence
from specdec_cli.decoding.state import Draft, State
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.cache import steps
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.order import unfold
from specdec_cli.model.rows import select_rows


@torch.inference_mode()
def beam_search(verifiers: Sequence[Verifier], sentences: Sequence[Sentence], decoding: Decoding) -> Iterator[Hypothesis]:
    """Decode `sentences`, which must share their source width, with one model or an ensemble of them, and yield one
    hypothesis for each.

    `decoding` says the options of the search, the batch size and the largest number of tokens.
    The models must share vocabulary, positions and order; their probabilities are averaged. The score of an
    alternative is its log probability divided by its length (EOS included) to the power of the length penalty (Wu et
    al. 2016, without the constant). The constraints of the first verifier apply to log probabilities, which are not
    normalised again, as in transformers and fairseq.

    Models that write two tokens per step are searched by pairs (Imamura and Sumita 2020, Algorithm 1). A pair with
    an EOS ends its hypothesis, which is then unfolded. Its length counts the folded tokens, with one EOS or two.
    """
    for start in range(0, len(sentences), decoding.batch_size):
        yield from _Batch(verifiers, sentences[start : start + decoding.batch_size], decoding).run()


class _Batch:
    """Beam search over a batch; `scores` (B, beam) are the log probabilities of the running hypotheses."""

    def __init__(self, verifiers: Sequence[Verifier], sentences: Sequence[Sentence], decoding: Decoding) -> None:
        self.verifiers, self.sentences = verifiers, sentences
        self.search, self.max_length = decoding.search, decoding.max_length
        self.config = verifiers[0].config
        rows = torch.arange(len(sentences)).repeat_interleave(self.search.beam_size).to(verifiers[0].device)
        numbers, sources = list(range(len(sentences))), [s.source for s in sentences]
        self.states = [select_rows(v.begin(numbers, sources, self.max_length), rows) for v in verifiers]
        self.scores = torch.full((len(sentences), self.search.beam_size), -torch.inf, device=rows.device)
        self.scores[:, 0] = 0
        self.finished: list[list[Alternative]] = [[] for _ in sentences]
        self.rounds = [0] * len(sentences)

    def run(self) -> Iterator[Hypothesis]:
        """All hypotheses of the batch, best first."""
        live = torch.arange(len(self.sentences), device=self.scores.device)
        while len(live):
            scores, parents, tokens = self._extend(live)
            ended = self._collect(live, scores, parents, tokens)
            keep = (~ended).nonzero()[:, 0]
            self._continue(scores, parents, tokens, keep)
            live = live[keep]
        for sentence, found, rounds in zip(self.sentences, self.finished, self.rounds, strict=True):
            best = sorted(found, key=lambda a: a.score, reverse=True)[: self.search.n_best]
            yield Hypothesis(sentence.number, best[0].ids, rounds, best[0].log_probability, tuple(best))

    def _extend(self, live: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The best C continuations of each sentence: scores (B, C), parents (B, C), which are rows of the state, and tokens (B, C, step).

        C is 2 * beam, or 3 * beam for pairs.
        """
        each = [_next_log_probabilities(v, s) for v, s in zip(self.verifiers, self.states, strict=True)]
        combined = each[0] if len(each) == 1 else torch.stack(each).logsumexp(0) - log(len(each))
        state, own = self.states[0], self.search.stop == "fairseq"
        allowed = self.verifiers[0].constrain(combined, state, state.tokens[:, :0], keep_forced=own)
        beam = self.search.beam_size
        firsts = torch.arange(len(live), device=live.device)[:, None] * beam
        following = allowed.view(len(live), beam, self.config.step, -1).unbind(2)
        if self.config.step == 1:
            scores, parents, tokens = best_tokens(self.scores, following[0], 2 * beam)
            return scores, parents + firsts, tokens[:, :, None]
        scores, parents, tokens = best_pairs(self.scores, following[0], following[1], self.config.eos)
        return scores, parents + firsts, tokens

    def _collect(self, live: Tensor, scores: Tensor, parents: Tensor, tokens: Tensor) -> Tensor:
        """Store the hypotheses that end in this step; which of the live sentences (B,) are done."""
        state, beam, step = self.states[0], self.search.beam_size, self.config.step
        length = int(state.lengths[0])
        full = length + step >= int(state.limits[0])
        with_end = (tokens == self.config.eos).any(2)
        ends = with_end & (scores > -torch.inf) if not full else scores > -torch.inf
        ends &= torch.arange(tokens.shape[1], device=tokens.device) < beam
        penalty = float(length) ** self.search.length_penalty
        for row, rank in ends.nonzero().tolist():
            found = self.finished[int(live[row])]
            if self.search.stop != "fairseq" or len(found) < beam:
                folded = [*state.tokens[parents[row, rank], step:length].tolist(), *tokens[row, rank].tolist()]
                ids = sentence_of(folded, self.config)
                log_probability = float(scores[row, rank])
                found.append(Alternative(ids, log_probability, log_probability / penalty))
        running = scores.masked_fill(with_end, -torch.inf).amax(1).tolist()
        for number in live.tolist():
            self.rounds[number] += 1
        done = [full or self._done(self.finished[number], best, length) for number, best in zip(live.tolist(), running, strict=True)]
        return torch.tensor(done, device=tokens.device)

    def _done(self, found: list[Alternative], running: float, length: int) -> bool:
        """Whether the search stops, given the log probability of the best running hypothesis, of `length` tokens."""
        search = self.search
        if running == -inf:
            return True  # every hypothesis has ended
        if len(found) < search.beam_size or search.stop in ("first", "fairseq"):
            return len(found) >= search.beam_size
        if search.stop == "never" and search.length_penalty > 0:
            length = self.max_length or int(self.states[0].limits[0]) - self.config.step
        worst = sorted((a.score for a in found), reverse=True)[search.beam_size - 1]
        return bool(running / float(length) ** search.length_penalty <= worst)

    def _continue(self, scores: Tensor, parents: Tensor, tokens: Tensor, keep: Tensor) -> None:
        """Continue with the best unfinished continuations of the sentences in `keep`."""
        running = scores.masked_fill((tokens == self.config.eos).any(2), -torch.inf)[keep]
        ordered, ranks = running.sort(dim=1, descending=True, stable=True)
        self.scores, places = ordered[:, : self.search.beam_size], ranks[:, : self.search.beam_size]
        rows = parents[keep].gather(1, places).flatten()
        chosen = tokens[keep].gather(1, places[:, :, None].expand(-1, -1, self.config.step)).flatten(0, 1)
        for index, state in enumerate(self.states):
            selected = select_rows(state, rows)
            added = selected.lengths[:, None] + torch.arange(self.config.step, device=chosen.device)
            selected.tokens.scatter_(1, added, chosen)
            selected.lengths += self.config.step
            self.states[index] = selected


def sentence_of(folded: Sequence[int], config: TransformerConfig) -> list[int]:
    """The ids of a folded sentence (FINALIZE in Algorithm 1), with EOS at the end if the folded sentence has one."""
    return unfold(folded, config.order, config.eos) + [config.eos] * (config.eos in folded)


def _next_log_probabilities(verifier: Verifier, state: State) -> Tensor:
    """Unconstrained log probabilities (B * beam, step, V) of the tokens of the next step."""
    logits = verifier.raw_score(state, Draft(state.tokens[:, :0], state.lengths * 0)).logits
    return verifier.network.choices.log_softmax(logits)


def best_tokens(scores: Tensor, following: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """The best `count` continuations of each sentence by one token: log probabilities, indices of hypotheses, and
    tokens, each (B, count). Equal ones are in the order of hypotheses, then of tokens.

    `scores` (B, K) are log probabilities of the K hypotheses of a sentence, `following` (B, K, V) those of the next
    token.
    """
    vocabulary = following.shape[-1]
    best, flat = _largest((scores[:, :, None] + following).flatten(1), count)
    return best, flat // vocabulary, flat % vocabulary


def _largest(values: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The largest `count` of `values` (B, N), largest first, and their indices; of equal values, the first."""
    if not graphs.can_branch(values.device):
        return largest_by_keys(values, count)
    largest, indices_of_largest = values.topk(count, dim=1)
    # Which of equal values torch.topk chooses, and in which order, is not specified.
    if bool(((values >= largest[:, -1:]) & (values > -torch.inf)).sum() > (largest > -torch.inf).sum()):
        ordered, indices = values.sort(dim=1, descending=True, stable=True)
        return ordered[:, :count], indices[:, :count]
    indices_of_largest = indices_of_largest.sort(dim=1).values
    largest, order = values.gather(1, indices_of_largest).sort(dim=1, descending=True, stable=True)
    return largest, indices_of_largest.gather(1, order)


def largest_by_keys(values: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The largest `count` of float32 `values` (B, N), largest first, and their indices; of equal values, the first. No value is read.

    The values become integers in the same order, and the indices, counted from the last, the digits behind them.
    """
    bits, last = (values + 0.0).view(torch.int32), values.shape[1] - 1
    bits ^= (bits >> 31) & 0x7FFFFFFF  # of negative numbers, the smaller one has the larger bits
    keys = bits.long().bitwise_left_shift_(32).add_(last - steps(values.shape[1], values.device))
    indices = last - (keys.topk(count, dim=1).values & 0xFFFFFFFF)
    return values.gather(1, indices), indices


def best_pairs(scores: Tensor, left: Tensor, right: Tensor, end: int) -> tuple[Tensor, Tensor, Tensor]:
    """The best 3 K continuations of each sentence by a pair of tokens (DOUBLETOPK of Imamura and Sumita 2020): log
    probabilities (B, 3 K), indices of hypotheses (B, 3 K), and tokens (B, 3 K, 2).

    `scores` (B, K) are log probabilities of the K hypotheses, `left` and `right` (B, K, V) those of the next two
    tokens, which are independent of each other. The best 2 K left tokens are chosen first, then right tokens for
    them. After the id `end` on the left only `end` is allowed on the right, as in every folded sentence. So each of
    the 2 K left tokens has one pair that ends a hypothesis, and at least K of the 3 K pairs continue.
    """
    beam = scores.shape[1]
    left_scores, parents, lefts = best_tokens(scores, left, 2 * beam)
    # No other right tokens of a hypothesis than its best 3 W can be in the best 3 W pairs.
    count = min(3 * beam, right.shape[2])
    rights, tokens = (part.gather(1, parents[:, :, None].expand(-1, -1, count)) for part in right.topk(count, dim=2))
    only_end = torch.full_like(rights, -torch.inf)
    only_end[:, :, 0] = right[:, :, end].gather(1, parents)
    ended = (lefts == end)[:, :, None]
    rights, tokens = torch.where(ended, only_end, rights), tokens.masked_fill(ended, end).flatten(1)
    best, chosen, columns = best_tokens(left_scores, rights, 3 * beam)
    pairs = torch.stack([lefts.gather(1, chosen), tokens.gather(1, chosen * count + columns)], dim=2)
    return best, parents.gather(1, chosen), pairs
