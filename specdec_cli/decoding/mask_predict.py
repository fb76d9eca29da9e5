"""Mask-Predict (Ghazvininejad et al. 2019): predict all tokens of an output at once, then the least probable ones again."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice

import torch
from torch import Tensor
from torch.nn import functional as F

from specdec_cli.decoding.constraints import EXCLUDED
from specdec_cli.decoding.options import Decoding
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.decoding.verifier import MULTIPLE, Verifier, round_up
from specdec_cli.model.cache import steps
from specdec_cli.model.network import Network
from specdec_cli.model.rows import select_rows
from specdec_cli.model.transformer import ROW_MULTIPLE, Memory

_PROJECTED = 1024
"""Positions whose logits are computed at a time; this limits the memory of a pass."""


@dataclass(frozen=True)
class _Candidate:
    """An output of `words` tokens (without EOS) for the sentence in row `row` of a batch; `rank` 0 is its most probable length."""

    row: int
    rank: int
    words: int
    ids: tuple[int, ...] = ()
    log_probabilities: tuple[float, ...] = ()

    @property
    def score(self) -> float:
        """The mean log probability of the tokens, each from the pass that predicted it."""
        return sum(self.log_probabilities) / self.words

    @property
    def width(self) -> int:
        """The padded number of positions: a function of the candidate's length alone, so that results are batch-invariant."""
        return round_up(self.words + 1, MULTIPLE)


@torch.inference_mode()
def mask_predict(verifier: Verifier, sentences: Iterable[Sentence], decoding: Decoding) -> Iterator[Hypothesis]:
    """Decode `sentences`, which share their source width, with a model of order "masked".

    For each sentence, one output is predicted for each of the `length_beam` most probable lengths. The output with the highest
    mean log probability is the result; if two are equal, the one of the more probable length. A round is one decoder pass over
    all outputs. The score of a hypothesis is the sum of the log probabilities of its tokens, each from the pass that predicted
    it. Padding, EOS, the decoder start and the mask are never predicted; EOS is appended to each output.
    """
    waiting = iter(sentences)
    while batch := list(islice(waiting, decoding.batch_size)):
        memory = _encode(verifier, [sentence.source for sentence in batch])
        filled = _filled(verifier.network, memory, _candidates(verifier, memory, decoding), decoding.iterations)
        best = {row: max(of_row, key=lambda one: one.score) for row, of_row in groupby(filled, key=lambda one: one.row)}
        longest = _longest(verifier, memory, decoding.max_length)
        for row, sentence in enumerate(batch):
            ids = [*best[row].ids, verifier.config.eos][:longest]
            scores = (*best[row].log_probabilities, 0.0)[:longest]
            yield Hypothesis(sentence.number, ids, decoding.iterations, sum(scores), log_probabilities=scores)


def _encode(verifier: Verifier, sources: Sequence[Sequence[int]]) -> Memory:
    width, padding = verifier.source_width(max(map(len, sources))), verifier.config.padding
    return verifier.network.encode(torch.tensor([[*ids, *[padding] * (width - len(ids))] for ids in sources], device=verifier.device))


def _longest(verifier: Verifier, memory: Memory, max_length: int | None) -> int:
    """The largest number of tokens of an output of each row, EOS included: the same limits as those of other decodings."""
    fitting = verifier.capacity(memory.states.shape[1]) - 2
    return min(fitting, max_length or fitting)


def _candidates(verifier: Verifier, memory: Memory, decoding: Decoding) -> list[_Candidate]:
    """Empty candidates of the most probable lengths of each row, in order; lengths out of range become the nearest valid length."""
    head = verifier.network.length_head
    assert head is not None
    logits = _project(head.output, head.mean(memory.states, memory.mask.ends))
    classes = logits.float().argsort(dim=1, descending=True, stable=True)[:, : decoding.length_beam]
    words = memory.mask.ends + head.differences(classes) - 1
    most = max(_longest(verifier, memory, decoding.max_length) - 1, 1)
    found = (dict.fromkeys(each) for each in words.clamp(1, most).tolist())
    return [_Candidate(row, rank, number) for row, of_row in enumerate(found) for rank, number in enumerate(of_row)]


def _filled(network: Network, memory: Memory, candidates: Sequence[_Candidate], iterations: int) -> list[_Candidate]:
    """The same candidates in the same order with their tokens. Candidates of equal width are decoded in one batch."""
    filled: list[_Candidate] = []
    for _, group in groupby(sorted(candidates, key=lambda one: one.width), key=lambda one: one.width):
        together = list(group)
        rows = torch.tensor([one.row for one in together], device=memory.states.device)
        words = rows.new_tensor([one.words for one in together])
        *_, (ids, scores, _) = passes(network, select_rows(memory, rows), words, together[0].width, iterations)
        for one, own, sure in zip(together, ids.tolist(), scores.tolist(), strict=True):
            filled.append(replace(one, ids=tuple(own[: one.words]), log_probabilities=tuple(sure[: one.words])))
    return sorted(filled, key=lambda one: (one.row, one.rank))


def passes(network: Network, memory: Memory, words: Tensor, width: int, iterations: int) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Run `iterations` passes of Mask-Predict over outputs of `words` (B,) tokens without EOS, padded to `width`
    positions.

    Yields after each pass the ids (B, width), their log probabilities (B, width), and a boolean mask (B, width) of
    the tokens that this pass predicted. The next pass changes the first two in place. Positions after EOS have no
    meaning.
    """
    config, places = network.config, steps(width, words.device)
    own = places < words[:, None]
    ids = torch.full_like(own, config.padding, dtype=torch.long).masked_fill_(places == words[:, None], config.eos)
    scores = torch.zeros(ids.shape, device=ids.device)
    for iteration in range(iterations):
        masked = own if iteration == 0 else least_sure(scores, words, iteration, iterations)
        ids.masked_fill_(masked, config.mask)
        ids[masked], scores[masked] = _predict(network, network.teach(memory, ids)[masked])
        yield ids, scores, masked


def least_sure(scores: Tensor, words: Tensor, iteration: int, iterations: int) -> Tensor:
    """The boolean mask (B, width) of tokens to predict again in pass `iteration` (1 or more): those with the lowest
    `scores` (B, width).

    They are N (T - t) / T tokens, where N is the row's number of `words` (B,), T is `iterations` and t is
    `iteration` (Ghazvininejad et al. 2019, Section 3.1); rounded down, but at least 1, as in the authors' program.
    Of equal scores, the first are chosen.
    """
    counts = (words * (iterations - iteration) // iterations).clamp_min(1)
    behind = steps(scores.shape[1], scores.device) >= words[:, None]
    ranks = scores.masked_fill(behind, torch.inf).argsort(dim=1, stable=True).argsort(1)
    return ranks < counts[:, None]


def _predict(network: Network, states: Tensor) -> tuple[Tensor, Tensor]:
    """The most probable ids (N,) given top states (N, W), and their log probabilities (N,) in float32."""
    config = network.config
    never = [config.padding, config.eos, config.decoder_start, config.mask]
    found = []
    for part in torch.split(states, _PROJECTED):
        logits = _project(network.project, part)
        logits[:, never] = EXCLUDED
        ids = network.choices.first(logits)
        found.append((ids, network.choices.log_probabilities(logits, ids)))
    return torch.cat([ids for ids, _ in found]), torch.cat([scores for _, scores in found])


def _project(linear: Callable[[Tensor], Tensor], rows: Tensor) -> Tensor:
    """Logits (N, V) of states (N, W), computed on a multiple of ROW_MULTIPLE rows, so that results are batch-invariant."""
    return linear(F.pad(rows, (0, 0, 0, -len(rows) % ROW_MULTIPLE)))[: len(rows)]
