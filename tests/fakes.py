"""Tiny models with random weights, and drafters with a chosen rate of agreement."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from specdec_cli.decoding.accept import Exact
from specdec_cli.decoding.drafters import Drafter
from specdec_cli.decoding.execution.protocol import NO_SENTENCE
from specdec_cli.decoding.loop import LoopOptions, Round, decode
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.state import Draft, Scores, State, Verdict
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.kernels.build import load_kernels
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.drafter import BlockDrafter
from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.model.drafters import AnyDrafter
from specdec_cli.model.heads import Heads
from specdec_cli.model.heads_config import HeadsConfig
from specdec_cli.model.int8 import quantize
from specdec_cli.model.transformer import Transformer
from specdec_cli.text.subwords import BOS, EOS, MASK, PADDING

VOCABULARY = 48
SPECIAL = (PADDING, BOS, EOS, MASK)


def tiny_transformer(seed: int = 1, *, ends: float = 0.1, **changes: Any) -> Transformer:
    """A model whose outputs depend on the source, and whose best token is EOS in about a share `ends` of positions."""
    shape: dict[str, Any] = {"width": 32, "feed_forward": 64, "heads": 2, "encoder_layers": 1, "decoder_layers": 2, "max_positions": 128}
    varied: dict[str, Any] = {"positions": "learned", "embedding_scale": False, "output_bias": True}
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(seed)
        model = Transformer(TransformerConfig(**{"vocabulary_size": VOCABULARY} | shape | varied | changes)).eval()
        _scatter_vectors(model)
        _enliven(model)
        if model.output.bias is not None:
            _set_end(model, ends)
    return model


def in_precision(model: Transformer, precision: str, drafter: AnyDrafter | None = None) -> Transformer:
    """Convert the model and its drafter to a precision; "int8 by operators" is int8 without compiled kernels."""
    if not precision.startswith("int8"):
        return model.to(getattr(torch, precision))
    quantize(model, None if precision == "int8 by operators" else load_kernels(), drafter)
    return model.eval()


def _enliven(model: Transformer) -> None:
    """Make attention sharper and positions larger: otherwise a random model repeats one token."""
    if isinstance(model.embedding.positions, nn.Parameter):
        model.embedding.positions.normal_()
    model.embedding.tokens.weight.normal_()
    for name, weight in model.named_parameters():
        if "query" in name and weight.dim() == 2:
            weight.mul_(4.0)
        if name.endswith("attention.output.weight"):
            weight.mul_(3.0)


def _set_end(model: Transformer, share: float) -> None:
    """Set the output bias of EOS so that EOS is the best token in this share of positions after random prefixes."""
    logits = model(*torch.randint(MASK + 1, model.config.vocabulary_size, (2, 32, 24)))
    end = logits[..., EOS].clone()
    logits[..., EOS] = -torch.inf
    model.output.bias[EOS] += (logits.amax(-1) - end).quantile(share)


PAPERS: dict[str, Any] = {
    "prefix": "own",
    "attention": "bidirectional",
    "layers": 2,
    "chain": 0,
    "layout": "unshifted",
    "source_copy": True,
    "copy_mode": "replace",
    "positions": "layers",
    "encoder": "own",
    "embeddings": "own",
    "initial": "random",
    "model": {"norm": "post", "activation": "gelu", "positions": "learned", "embedding_scale": False},
}
"""The published configuration of GAD's drafter."""
DRAFTERS: dict[str, dict[str, Any]] = {
    "states": {},
    "states, no chain": {"chain": 0},
    "states, two layers, copy, encoder": {"layers": 2, "source_copy": True, "encoder": "own"},
    "own": {"prefix": "own"},
    "own, no chain": {"prefix": "own", "chain": 0},
    "own, unshifted": {"prefix": "own", "layout": "unshifted"},
    "own, unshifted, copy, encoder": {"prefix": "own", "layers": 2, "layout": "unshifted", "source_copy": True, "encoder": "own"},
    "both ways": {"prefix": "own", "layers": 2, "attention": "bidirectional"},
    "own embeddings": {"embeddings": "own", "positions": "layers", "layers": 2, "source_copy": True, "copy_mode": "replace"},
    "papers": PAPERS,
    "papers, big": PAPERS | {"feed_forward": 96, "model": PAPERS["model"] | {"width": 48, "heads": 3, "encoder_layers": 2}},
}
"""All variants of block drafters, as changes of the configuration."""


def tiny_drafter(verifier: Transformer, seed: int = 0, **changes: Any) -> BlockDrafter:
    """An untrained drafter for `verifier`; `changes` are fields of its configuration."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        shape: dict[str, Any] = {"feed_forward": 32, "max_block": 6, "chain": 8, "candidates": 4}
        drafter = BlockDrafter(DrafterConfig(**shape | changes), verifier)
        _scatter_vectors(drafter)
    return drafter.eval()


HEADS: dict[str, dict[str, Any]] = {"published": {"chain": 0}, "linked": {}, "linked, start": {"start": True}}
"""All variants of heads, as changes of the configuration."""


def tiny_heads(verifier: Transformer, seed: int = 0, **changes: Any) -> Heads:
    """Untrained heads for `verifier`; `changes` are fields of their configuration."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        shape: dict[str, Any] = {"feed_forward": 32, "max_block": 6, "chain": 16, "candidates": 4}
        heads = Heads(HeadsConfig(**shape | changes), verifier)
        _scatter_vectors(heads)
    return heads.eval()


def _scatter_vectors(module: nn.Module) -> None:
    """Add noise to biases and norms: with values of 0 and 1, missing or exchanged ones would not be noticed."""
    with torch.no_grad():
        for weight in module.parameters():
            if weight.dim() == 1:
                weight.add_(0.2 * torch.randn_like(weight))


def make_sentences(count: int, width: int = 16, *, seed: int = 0, vocabulary: int = VOCABULARY) -> list[Sentence]:
    """Sentences with random sources of `width` - 15 to `width` tokens, which share one source width."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(max(width - 15, 2), width + 1, (count,), generator=generator).tolist()
    sources = [torch.randint(MASK + 1, vocabulary, (length - 1,), generator=generator).tolist() for length in lengths]
    return [Sentence(number, [*source, EOS]) for number, source in enumerate(sources)]


class TableVerifier(Verifier):
    """A verifier whose logits are read from a table (sentences, positions, V), whatever the prefix is."""

    def __init__(self, table: Tensor) -> None:
        super().__init__(tiny_transformer(encoder_layers=0, decoder_layers=1, max_positions=64))
        self.table = table

    def score(self, state: State, draft: Draft) -> Scores:
        """The logits of the table from each row's length on."""
        places = state.lengths[:, None] - 1 + torch.arange(draft.ids.shape[1] + 1)
        logits = self.table[state.numbers[:, None], places.clamp_max(self.table.shape[1] - 1)]
        return Scores(logits, torch.zeros(*places.shape, self.model.config.width))


Guess = Callable[[Tensor, torch.Generator], Tensor]
"""A function from the right ids (B, k) to proposed ids (B, k)."""


def right(ids: Tensor, generator: torch.Generator) -> Tensor:  # noqa: ARG001
    """Agree in all slots."""
    return ids


def wrong(ids: Tensor, generator: torch.Generator) -> Tensor:  # noqa: ARG001
    """Agree in no slot."""
    return (ids + 1) % VOCABULARY


def sometimes(ids: Tensor, generator: torch.Generator) -> Tensor:
    """Agree in about three of four slots."""
    return torch.where(torch.rand(ids.shape, generator=generator) < 0.75, ids, wrong(ids, generator))


def wrong_at_the_end(ids: Tensor, generator: torch.Generator) -> Tensor:
    """Agree in all slots but the last."""
    return torch.cat([ids[:, :-1], wrong(ids[:, -1:], generator)], dim=1)


def early_eos(ids: Tensor, generator: torch.Generator) -> Tensor:
    """Propose EOS in a random slot, and agree in the others."""
    chosen = torch.randint(0, ids.shape[1], (ids.shape[0], 1), generator=generator)
    return ids.scatter(1, chosen, EOS)


def special(ids: Tensor, generator: torch.Generator) -> Tensor:
    """Propose special tokens in some slots, and agree in the others."""
    drawn = torch.tensor(SPECIAL)[torch.randint(0, len(SPECIAL), ids.shape, generator=generator)]
    return torch.where(torch.rand(ids.shape, generator=generator) < 0.3, drawn, ids)


GUESSES: tuple[Guess, ...] = (right, wrong, sometimes, wrong_at_the_end, early_eos, special)


@dataclass
class Seen:
    """The fake drafter's record of rows: the numbers of their sentences, and of their accepted tokens."""

    numbers: Tensor
    tokens: Tensor


class FakeDrafter:
    """Applies `guess` to the right `outputs` (ids, by number of the sentence).

    With `ragged`, drafts have random lengths, which differ between rows. The drafter keeps a record of each row, and asserts that
    the loop moves the record with its row and reports all accepted tokens.
    """

    def __init__(self, outputs: Mapping[int, Sequence[int]], block_size: int, guess: Guess, *, ragged: bool = False, seed: int = 0) -> None:
        self.block_size, self.guess, self.ragged = block_size, guess, ragged
        self.generator = torch.Generator().manual_seed(seed)
        longest = max(map(len, outputs.values())) + block_size
        self.table = torch.full((max(outputs) + 1, longest), PADDING)
        for number, ids in outputs.items():
            self.table[number, : len(ids)] = torch.tensor(ids)

    def begin(self, state: State) -> Seen:
        """A record of rows without accepted tokens."""
        return Seen(state.numbers.clone(), state.lengths - 1)

    def propose(self, state: State) -> Draft:
        """The guess for each row. Asserts that the record matches the state."""
        heard: Seen = state.drafting
        there = state.numbers != NO_SENTENCE
        assert torch.equal(heard.numbers[there], state.numbers[there])
        assert torch.equal(heard.tokens, state.lengths - 1)
        rows, size = len(state.numbers), self._draw(self.block_size, 1).item() if self.ragged else self.block_size
        places = (state.lengths[:, None] - 1 + torch.arange(size)).clamp_max(self.table.shape[1] - 1)
        ids = self.table[state.numbers[:, None], places]
        counts = self._draw(int(size), rows) if self.ragged else torch.full((rows,), size)
        return Draft(self.guess(ids, self.generator) if size else ids, counts)

    def observe(self, state: State, verdict: Verdict) -> None:
        """Count the accepted tokens of each row."""
        heard: Seen = state.drafting
        assert verdict.states.shape[:2] == verdict.accepted.ids.shape
        heard.tokens += verdict.accepted.counts

    def _draw(self, most: int, count: int) -> Tensor:
        return torch.randint(0, most + 1, (count,), generator=self.generator)


def drafts(drafter: Drafter, source: list[int], target: list[int]) -> list[list[int]]:
    """The drafts of each round of decoding `source` with a verifier whose output is `target`, both without EOS."""
    table = torch.zeros(1, len(target) + 1, VOCABULARY)
    for place, token in enumerate([*target, EOS]):
        table[0, place, token] = 1.0
    seen: list[list[int]] = []

    def look(round_: Round) -> None:
        seen.append(round_.draft.ids[0, : int(round_.draft.counts[0])].tolist())

    sentence = Sentence(0, [*source, EOS])
    (found,) = decode(TableVerifier(table), drafter, [sentence], LoopOptions(Exact()), look)
    assert found.ids == [*target, EOS]
    return seen
