"""Tiny models with random weights, and drafters that agree with them as much as they are told to."""

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
    """A model that says other things to other sources, and ends a sentence at about the share `ends` of all positions."""
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
    """The model, and what drafts for it, in one of our precisions; "int8 by operators" is what there is without a compiler."""
    if not precision.startswith("int8"):
        return model.to(getattr(torch, precision))
    quantize(model, None if precision == "int8 by operators" else load_kernels(), drafter)
    return model.eval()


def _enliven(model: Transformer) -> None:
    """Sharp attention and plain positions keep a random model from saying one word for ever."""
    if isinstance(model.embedding.positions, nn.Parameter):
        model.embedding.positions.normal_()
    model.embedding.tokens.weight.normal_()
    for name, weight in model.named_parameters():
        if "query" in name and weight.dim() == 2:
            weight.mul_(4.0)
        if name.endswith("attention.output.weight"):
            weight.mul_(3.0)


def _set_end(model: Transformer, share: float) -> None:
    """Give EOS the bias that makes it the best in this share of positions after random prefixes."""
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
"""GAD's drafter, as it is published."""
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
"""Every kind of block drafter: changes of its configuration."""


def tiny_drafter(verifier: Transformer, seed: int = 0, **changes: Any) -> BlockDrafter:
    """An untrained drafter for `verifier`; `changes` are fields of its configuration."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        shape: dict[str, Any] = {"feed_forward": 32, "max_block": 6, "chain": 8, "candidates": 4}
        drafter = BlockDrafter(DrafterConfig(**shape | changes), verifier)
        _scatter_vectors(drafter)
    return drafter.eval()


HEADS: dict[str, dict[str, Any]] = {"published": {"chain": 0}, "linked": {}, "linked, start": {"start": True}}
"""Every kind of heads: changes of their configuration."""


def tiny_heads(verifier: Transformer, seed: int = 0, **changes: Any) -> Heads:
    """Untrained heads for `verifier`; `changes` are fields of their configuration."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        shape: dict[str, Any] = {"feed_forward": 32, "max_block": 6, "chain": 16, "candidates": 4}
        heads = Heads(HeadsConfig(**shape | changes), verifier)
        _scatter_vectors(heads)
    return heads.eval()


def _scatter_vectors(module: nn.Module) -> None:
    """Move biases and norms away from zeros and ones, which would hide that they were forgotten or confused."""
    with torch.no_grad():
        for weight in module.parameters():
            if weight.dim() == 1:
                weight.add_(0.2 * torch.randn_like(weight))


def make_sentences(count: int, width: int = 16, *, seed: int = 0, vocabulary: int = VOCABULARY) -> list[Sentence]:
    """Sentences whose sources are between 16 tokens shorter than `width` and that long: all of one source width."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(max(width - 15, 2), width + 1, (count,), generator=generator).tolist()
    sources = [torch.randint(MASK + 1, vocabulary, (length - 1,), generator=generator).tolist() for length in lengths]
    return [Sentence(number, [*source, EOS]) for number, source in enumerate(sources)]


class TableVerifier(Verifier):
    """Says what a table (sentences, positions, V) of logits says, whatever the prefix is."""

    def __init__(self, table: Tensor) -> None:
        super().__init__(tiny_transformer(encoder_layers=0, decoder_layers=1, max_positions=64))
        self.table = table

    def score(self, state: State, draft: Draft) -> Scores:
        """The table's rows from each row's length on."""
        places = state.lengths[:, None] - 1 + torch.arange(draft.ids.shape[1] + 1)
        logits = self.table[state.numbers[:, None], places.clamp_max(self.table.shape[1] - 1)]
        return Scores(logits, torch.zeros(*places.shape, self.model.config.width))


Guess = Callable[[Tensor, torch.Generator], Tensor]
"""Proposed ids from the right ones (B, k)."""


def right(ids: Tensor, generator: torch.Generator) -> Tensor:  # noqa: ARG001
    """Always agrees."""
    return ids


def wrong(ids: Tensor, generator: torch.Generator) -> Tensor:  # noqa: ARG001
    """Never agrees."""
    return (ids + 1) % VOCABULARY


def sometimes(ids: Tensor, generator: torch.Generator) -> Tensor:
    """Agrees in about three slots of four."""
    return torch.where(torch.rand(ids.shape, generator=generator) < 0.75, ids, wrong(ids, generator))


def wrong_at_the_end(ids: Tensor, generator: torch.Generator) -> Tensor:
    """Agrees up to the last slot."""
    return torch.cat([ids[:, :-1], wrong(ids[:, -1:], generator)], dim=1)


def early_eos(ids: Tensor, generator: torch.Generator) -> Tensor:
    """Ends the sentence in a random slot."""
    chosen = torch.randint(0, ids.shape[1], (ids.shape[0], 1), generator=generator)
    return ids.scatter(1, chosen, EOS)


def special(ids: Tensor, generator: torch.Generator) -> Tensor:
    """Says padding, BOS, EOS or a mask now and then."""
    drawn = torch.tensor(SPECIAL)[torch.randint(0, len(SPECIAL), ids.shape, generator=generator)]
    return torch.where(torch.rand(ids.shape, generator=generator) < 0.3, drawn, ids)


GUESSES: tuple[Guess, ...] = (right, wrong, sometimes, wrong_at_the_end, early_eos, special)


@dataclass
class Heard:
    """The fake's record of a row: which sentence it is, and how many tokens of it were accepted so far."""

    numbers: Tensor
    tokens: Tensor


class FakeDrafter:
    """Proposes what `guess` makes of the right `outputs` (ids by the sentence's number).

    `ragged`: fewer than `block_size` ids in some rounds, and of these only the first few of a row are meant.
    It keeps a record a row and sees that the loop keeps it in its place and tells all that is accepted.
    """

    def __init__(self, outputs: Mapping[int, Sequence[int]], block_size: int, guess: Guess, *, ragged: bool = False, seed: int = 0) -> None:
        self.block_size, self.guess, self.ragged = block_size, guess, ragged
        self.generator = torch.Generator().manual_seed(seed)
        longest = max(map(len, outputs.values())) + block_size
        self.table = torch.full((max(outputs) + 1, longest), PADDING)
        for number, ids in outputs.items():
            self.table[number, : len(ids)] = torch.tensor(ids)

    def begin(self, state: State) -> Heard:
        """Nothing heard yet."""
        return Heard(state.numbers.clone(), state.lengths - 1)

    def propose(self, state: State) -> Draft:
        """A guess for each row."""
        heard: Heard = state.drafting
        there = state.numbers != NO_SENTENCE
        assert torch.equal(heard.numbers[there], state.numbers[there])
        assert torch.equal(heard.tokens, state.lengths - 1)
        rows, size = len(state.numbers), self._draw(self.block_size, 1).item() if self.ragged else self.block_size
        places = (state.lengths[:, None] - 1 + torch.arange(size)).clamp_max(self.table.shape[1] - 1)
        ids = self.table[state.numbers[:, None], places]
        counts = self._draw(int(size), rows) if self.ragged else torch.full((rows,), size)
        return Draft(self.guess(ids, self.generator) if size else ids, counts)

    def observe(self, state: State, verdict: Verdict) -> None:
        """Count what is accepted, finished rows excepted."""
        heard: Heard = state.drafting
        assert verdict.states.shape[:2] == verdict.accepted.ids.shape
        heard.tokens += verdict.accepted.counts

    def _draw(self, most: int, count: int) -> Tensor:
        return torch.randint(0, most + 1, (count,), generator=self.generator)


def drafts(drafter: Drafter, source: list[int], target: list[int]) -> list[list[int]]:
    """What `drafter` proposes, round by round, while the verifier says `target`, whatever the draft; both without EOS."""
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
