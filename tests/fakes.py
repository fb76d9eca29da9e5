"""Tiny models with random weights, and drafters with a chosen rate of agreement."""

from typing import Any

import pytest
import torch
from torch import nn

from specdec_cli.decoding.sentence import Sentence
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.drafter import AnyDrafter, BlockDrafter, Heads
from specdec_cli.model.drafter_config import DrafterConfig, HeadsConfig
from specdec_cli.model.int8 import quantize
from specdec_cli.model.order import Order
from specdec_cli.model.transformer import Transformer
from specdec_cli.text.tokenize.sentencepiece import BOS, EOS, MASK, PADDING

ORDERS: tuple[Order, ...] = ("left-to-right", "right-to-left", "double-left-to-right", "double-right-to-left", "bidirectional")
"""The orders of models that emit one or two tokens a step."""
VOCABULARY = 48
SPECIAL = (PADDING, BOS, EOS, MASK)


RELATIVE: dict[str, dict[str, Any]] = {
    "shared": {},
    "gated": {"gated": True, "activation": "gelu-tanh", "attention_width": 64, "tied_output": False},
    "of layers": {"layer_biases": True, "heads": 4, "attention_width": 96, "attention_scale": True, "biases": True},
}
"""Kinds of models with relative positions (T5, T5 v1.1, UMT5), by what differs from the first; with the fields of RELATIVE_SHAPE."""
RELATIVE_SHAPE: dict[str, Any] = {
    "positions": "relative",
    "reach": 5,
    "norm_kind": "rms",
    "norm_epsilon": 1e-6,
    "biases": False,
    "attention_scale": False,
    "embedding_scale": False,
}


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
    """Convert the model and its drafter to a precision."""
    if precision != "int8":
        return model.to(getattr(torch, precision))
    quantize(model, drafter)
    return model.eval()


def _enliven(model: Transformer) -> None:
    """Make attention sharper and positions larger: otherwise a random model repeats one token."""
    if isinstance(model.embedding.positions, nn.Parameter):
        model.embedding.positions.normal_()
    for bias in (model.encoder.bias, model.bias):
        if bias is not None:
            bias.weight.normal_()
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
    "states, shortlist": {"shortlist": 33},
    "states, recurrent": {"recurrent": True},
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
FEW_DRAFTERS = [name if name in ("states", "own", "papers") else pytest.param(name, marks=pytest.mark.long) for name in DRAFTERS]
"""Names of all variants for parametrised tests; most are marked as long."""


def tiny_drafter(verifier: Transformer, seed: int = 0, **changes: Any) -> BlockDrafter:
    """An untrained drafter for `verifier`; `changes` are fields of its configuration."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        shape: dict[str, Any] = {"feed_forward": 32, "max_block": 6, "chain": 8, "candidates": 4}
        drafter = BlockDrafter(DrafterConfig(**shape | changes), verifier)
        if drafter.chain is not None and drafter.chain.recurrent is not None:
            nn.init.normal_(drafter.chain.recurrent.weight, std=0.1)
        _scatter_vectors(drafter)
    return drafter.eval()


HEADS: dict[str, dict[str, Any]] = {"published": {"chain": 0}, "linked": {}, "linked, start": {"start": True}}
"""Configuration fields of each tested variant of heads, by the name of the variant."""


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


@torch.no_grad()
def redraw(module: nn.Module, seed: int = 0, *, spread: float = 1.0) -> None:
    """Draw all weights anew, with arithmetic that gives the same bits on every processor, for outputs that are stored.

    `torch.randn` has other digits where its vector instructions differ. Learned positions, slots and other vectors of their own have the
    standard deviation `spread`.
    """
    generator = torch.Generator().manual_seed(seed)

    def draw(shape: torch.Size, deviation: float) -> torch.Tensor:
        """Sums of twelve uniform numbers, which are nearly normal."""
        drawn = torch.full(shape, -6.0)
        for _ in range(12):
            drawn += torch.rand(shape, generator=generator)
        return deviation * drawn

    for part in module.modules():
        for name, weight in part.named_parameters(recurse=False):
            if isinstance(part, nn.LayerNorm | nn.RMSNorm) or (isinstance(part, nn.Linear) and weight.dim() == 1):
                weight.copy_((name == "weight") + draw(weight.shape, 0.2))
            elif isinstance(part, nn.Linear):
                weight.copy_(draw(weight.shape, (2 / sum(weight.shape)) ** 0.5))
            else:
                weight.copy_(draw(weight.shape, weight.shape[-1] ** -0.5 if isinstance(part, nn.Embedding) else spread))


def make_sentences(count: int, width: int = 16, *, seed: int = 0, vocabulary: int = VOCABULARY) -> list[Sentence]:
    """Sentences with random sources of `width` - 15 to `width` tokens, which share one source width."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(max(width - 15, 2), width + 1, (count,), generator=generator).tolist()
    sources = [torch.randint(MASK + 1, vocabulary, (length - 1,), generator=generator).tolist() for length in lengths]
    return [Sentence(number, [*source, EOS]) for number, source in enumerate(sources)]
