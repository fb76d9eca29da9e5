"""Mask-Predict (Ghazvininejad et al. 2019): predict all tokens of an output at once, then the least probable ones again."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import groupby, islice

import torch
from torch import Tensor
from torch.nn import functional as F

from specdec_cli.decoding import graphs
from specdec_cli.decoding.constraints import EXCLUDED
from specdec_cli.decoding.graph_player import power_of_two
from specdec_cli.decoding.graphs import Graphs
from specdec_cli.decoding.options import Decoding
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.cache import steps
from specdec_cli.model.linear import ROW_MULTIPLE
from specdec_cli.model.network import Network
from specdec_cli.model.rows import select_rows, tensors
from specdec_cli.model.transformer import Memory

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


@torch.inference_mode()
def mask_predict(verifier: Verifier, sentences: Iterable[Sentence], decoding: Decoding) -> Iterator[Hypothesis]:
    """Decode `sentences`, which share their source width, with a model of order "masked".

    For each sentence, one output is predicted for each of the `length_beam` most probable lengths. The output with the highest
    mean log probability is the result; if two are equal, the one of the more probable length. A round is one decoder pass over
    all outputs. The score of a hypothesis is the sum of the log probabilities of its tokens, each from the pass that predicted
    it. Padding, EOS, the decoder start and the mask are never predicted; EOS is appended to each output.

    Where there are CUDA graphs, the encoder is one graph, and all passes over the outputs of a width are another.
    """
    waiting = iter(sentences)
    while batch := list(islice(waiting, decoding.batch_size)):
        filled = _decode(verifier, [sentence.source for sentence in batch], decoding)
        best = {row: max(of_row, key=lambda one: one.score) for row, of_row in groupby(filled, key=lambda one: one.row)}
        longest = _longest(verifier, verifier.source_width(max(len(sentence.source) for sentence in batch)), decoding.max_length)
        for row, sentence in enumerate(batch):
            ids = [*best[row].ids, verifier.config.eos][:longest]
            scores = (*best[row].log_probabilities, 0.0)[:longest]
            yield Hypothesis(sentence.number, ids, decoding.iterations, sum(scores), log_probabilities=scores)


def _longest(verifier: Verifier, width: int, max_length: int | None) -> int:
    """The largest number of tokens of an output for a source of padded `width`, EOS included: the limits of other decodings."""
    fitting = verifier.capacity(width) - 2
    return min(fitting, max_length or fitting)


def _decode(verifier: Verifier, sources: Sequence[Sequence[int]], decoding: Decoding) -> list[_Candidate]:
    """The candidates of each of `sources`, in order, with their tokens."""
    width, padding = verifier.source_width(max(map(len, sources))), verifier.config.padding
    source = torch.tensor([[*ids, *[padding] * (width - len(ids))] for ids in sources])
    if verifier.graphs is None:
        return _filled(verifier, _Eager(verifier, source, decoding))
    with closing(_Captured(verifier, verifier.graphs, source, decoding)) as batch:
        return _filled(verifier, batch)


def _filled(verifier: Verifier, batch: "_Eager | _Captured") -> list[_Candidate]:
    """The candidates of each row of `batch`, in order, with their tokens."""
    # Lengths out of range became the nearest valid length, and some of them the same one.
    lengths = (dict.fromkeys(each) for each in batch.lengths())
    candidates = [_Candidate(row, rank, words) for row, of_row in enumerate(lengths) for rank, words in enumerate(of_row)]

    def padded(candidate: _Candidate) -> int:
        """A function of the candidate's length alone, so that results are batch-invariant."""
        return verifier.source_width(candidate.words + 1)

    groups = [(width, list(group)) for width, group in groupby(sorted(candidates, key=padded), key=padded)]
    filled: list[_Candidate] = []
    for (_, group), (ids, scores) in zip(groups, batch.fill(groups), strict=True):
        for candidate, predicted, probabilities in zip(group, ids, scores, strict=True):
            filled.append(
                replace(candidate, ids=tuple(predicted[: candidate.words]), log_probabilities=tuple(probabilities[: candidate.words]))
            )
    return sorted(filled, key=lambda candidate: (candidate.row, candidate.rank))


_Groups = Sequence[tuple[int, Sequence[_Candidate]]]
"""Candidates of one padded width, with it."""
_Values = tuple[Sequence[Sequence[int]], Sequence[Sequence[float]]]
"""The ids of the outputs of a group, and their log probabilities."""


@dataclass
class _Encoded:
    """B encoded sources, and the numbers of words (B, K) of their K most probable outputs, the most probable first."""

    memory: Memory
    words: Tensor


def _encode(verifier: Verifier, source: Tensor, decoding: Decoding) -> _Encoded:
    """Encode `source` ids (B, M), and predict lengths. No value is read."""
    memory, head = verifier.network.encode(source), verifier.network.length_head
    assert head is not None
    logits = _project(head.output, head.mean(memory.states, memory.mask.ends))
    classes = logits.float().argsort(dim=1, descending=True, stable=True)[:, : decoding.length_beam]
    words = memory.mask.ends + head.differences(classes) - 1
    return _Encoded(memory, words.clamp(1, max(_longest(verifier, source.shape[1], decoding.max_length) - 1, 1)))


class _Eager:
    """A batch of `source` ids (B, M), which are on the CPU, whose operators are launched one by one."""

    def __init__(self, verifier: Verifier, source: Tensor, decoding: Decoding) -> None:
        self._network, self._iterations = verifier.network, decoding.iterations
        self._encoded = _encode(verifier, source.to(verifier.device), decoding)

    def lengths(self) -> list[list[int]]:
        """The numbers of words of each row."""
        lengths: list[list[int]] = self._encoded.words.tolist()
        return lengths

    def fill(self, groups: _Groups) -> Iterator[_Values]:
        """The outputs of each group."""
        for width, group in groups:
            rows = self._encoded.words.new_tensor([one.row for one in group])
            words = rows.new_tensor([one.words for one in group])
            *_, (ids, scores, _) = passes(self._network, select_rows(self._encoded.memory, rows), words, width, self._iterations)
            yield ids.tolist(), scores.tolist()


class _Captured:
    """As _Eager, by CUDA graphs: the host waits for the lengths, and once for all outputs.

    The numbers of rows and of outputs are powers of two: the last one is computed several times.
    """

    def __init__(self, verifier: Verifier, graphs: Graphs, source: Tensor, decoding: Decoding) -> None:
        self._verifier, self._graphs, self._decoding, self._rows = verifier, graphs, decoding, len(source)
        source = _filled_up(source)
        self._form = mask_predict, tuple(source.shape), decoding.length_beam, decoding.iterations, decoding.max_length
        self._buffers = graphs.take(self._form, lambda: _encode(verifier, source.to(verifier.device), decoding))
        self._source = source

    def lengths(self) -> list[list[int]]:
        """The numbers of words of each row."""
        buffers, capture = self._buffers, self._graphs.capture
        here = buffers.extra("source", self._source.shape)
        capture.send(self._source, here)
        board = buffers.board("lengths", capture, buffers.batch.words.shape)

        def encode() -> None:
            encoded = _encode(self._verifier, here, self._decoding)
            for kept, new in zip(tensors(buffers.batch), tensors(encoded), strict=True):
                kept.copy_(new)
            board.copy_(encoded.words, non_blocking=True)

        buffers.run("encode", encode)
        self._wait()
        lengths: list[list[int]] = board[: self._rows].tolist()
        return lengths

    def fill(self, groups: _Groups) -> Iterator[_Values]:
        """The outputs of each group."""
        boards = [self._launch(width, group) for width, group in groups]
        self._wait()
        values = [(ids.tolist(), scores.tolist()) for ids, scores in boards]
        return ((ids[: len(group)], scores[: len(group)]) for (ids, scores), (_, group) in zip(values, groups, strict=True))

    def close(self) -> None:
        """Give the buffers back, whose boards graphs may still write to if something failed."""
        self._graphs.give_back(self._form, self._buffers)

    def _launch(self, width: int, group: Sequence[_Candidate]) -> tuple[Tensor, Tensor]:
        """Start all passes over the outputs of a group; return what will have their ids and log probabilities."""
        entries = _filled_up(torch.tensor([[one.row, one.words] for one in group]))
        name = ("passes", len(entries), width)
        buffers, capture = self._buffers, self._graphs.capture
        here = buffers.extra(name, entries.shape)
        capture.send(entries, here)
        boards = (
            buffers.board((*name, "ids"), capture, (len(entries), width)),
            buffers.board((*name, "scores"), capture, (len(entries), width), torch.float32),
        )

        def fill() -> None:
            rows, words = here[:, 0].contiguous(), here[:, 1].contiguous()
            memory = select_rows(buffers.records().memory, rows)
            *_, (ids, scores, _) = passes(self._verifier.network, memory, words, width, self._decoding.iterations)
            for board, values in zip(boards, (ids, scores), strict=True):
                board.copy_(values, non_blocking=True)

        buffers.run(name, fill)
        self._graphs.counts.bursts += 1
        return boards

    def _wait(self) -> None:
        self._graphs.capture.event().synchronize()
        self._graphs.counts.waits += 1


def _filled_up(rows: Tensor) -> Tensor:
    """`rows` (N, ...), whose number becomes a power of two by more copies of the last one."""
    return torch.cat([rows, rows[-1:].expand(power_of_two(len(rows)) - len(rows), *rows.shape[1:])])


def passes(network: Network, memory: Memory, words: Tensor, width: int, iterations: int) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Run `iterations` passes of Mask-Predict over outputs of `words` (B,) tokens without EOS, padded to `width`
    positions.

    Yields after each pass the ids (B, width), their log probabilities (B, width), and a boolean mask (B, width) of
    the tokens that this pass predicted. The next pass changes the first two in place. Positions after EOS have no
    meaning.
    """
    config, positions = network.config, steps(width, words.device)
    is_word = positions < words[:, None]
    ids = torch.full_like(is_word, config.padding, dtype=torch.long).masked_fill_(positions == words[:, None], config.eos)
    scores = torch.zeros(ids.shape, device=ids.device)
    for iteration in range(iterations):
        masked = is_word if iteration == 0 else least_sure(scores, words, iteration, iterations)
        ids.masked_fill_(masked, config.mask)
        states = network.teach(memory, ids)
        if graphs.can_branch(states.device):
            ids[masked], scores[masked] = _predict(network, states[masked])
        else:  # which tokens are masked is not known here: all are predicted
            predicted, sure = _predict(network, states.flatten(0, 1))
            ids.copy_(torch.where(masked, predicted.view_as(ids), ids))
            scores.copy_(torch.where(masked, sure.view_as(scores), scores))
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
    parts = []
    for part in torch.split(states, _PROJECTED):
        logits = _project(network.project, part)
        for token in never:
            logits[:, token] = EXCLUDED
        ids = network.choices.first(logits)
        parts.append((ids, network.choices.log_probabilities(logits, ids)))
    return torch.cat([ids for ids, _ in parts]), torch.cat([scores for _, scores in parts])


def _project(linear: Callable[[Tensor], Tensor], rows: Tensor) -> Tensor:
    """Logits (N, V) of states (N, W), computed on a multiple of ROW_MULTIPLE rows, so that results are batch-invariant."""
    return linear(F.pad(rows, (0, 0, 0, -len(rows) % ROW_MULTIPLE)))[: len(rows)]
