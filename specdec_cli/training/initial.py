"""The model that a run of training begins with: a verifier of a bundle, of fewer layers, or with another vocabulary."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from specdec_cli.errors import ModelError, UsageError
from specdec_cli.fields import checked_values
from specdec_cli.model.bundle import Bundle
from specdec_cli.model.config import PRESET_SIZES, TransformerConfig, preset
from specdec_cli.model.layers import DecoderLayer, EncoderLayer
from specdec_cli.model.transformer import Transformer
from specdec_cli.text.tokenize.sentencepiece import BOS, EOS, MASK, PADDING
from specdec_cli.text.tokenize.tokenizer import Tokenizer
from specdec_cli.training.recipe import VerifierRecipe, order_fields

# A prefix for pieces that do not start a word, so that SentencePiece adds no word boundary before them.
_FENCE = "\u0001"


def with_vocabulary(first: Bundle, subwords: Tokenizer, dropout: float) -> Transformer:
    """A copy of the verifier of `first` with the vocabulary of the tokenizer `subwords`.

    `dropout` is the dropout rate of the copy. The embedding and the output bias of a new piece are the means over the pieces into
    which the tokenizer of `first` splits the text of the new piece (Gee et al. 2022, Fast Vocabulary Transfer). Raises UsageError if
    `first` has separate vocabularies for source and target.
    """
    config = first.verifier.config
    if subwords is first.tokenizer:
        same = Transformer(config, dropout)
        same.load_state_dict(first.verifier.state_dict())
        return same
    if not first.tokenizer.shared:
        raise UsageError("the vocabulary of a model with separate source and target vocabularies cannot be changed")
    config = replace(config, vocabulary_size=len(subwords), padding=PADDING, eos=EOS, decoder_start=BOS, mask=MASK)
    transformer = Transformer(config, dropout)
    parts = [_parts(piece, first.tokenizer) for piece in subwords.vocabulary()]
    transformer.load_state_dict(
        {name: _means(value, parts) if _is_by_piece(name) else value for name, value in first.verifier.state_dict().items()}
    )
    return transformer


def _is_by_piece(name: str) -> bool:
    return name.startswith(("output.", "embedding.tokens", "encoder.embedding.tokens"))


def _means(rows: Tensor, parts: list[list[int]]) -> Tensor:
    return torch.stack([rows[ids].mean(0) for ids in parts])


def _parts(piece: str, tokenizer: Tokenizer) -> list[int]:
    """The ids into which `tokenizer` encodes the text of `piece`."""
    known = tokenizer.id_of(piece)
    if known is not None:
        return [known]
    text = piece.replace("\u2581", " ")
    if text.startswith(" "):
        return tokenizer.encode(text[1:])
    fence = tokenizer.encode(_FENCE)
    return tokenizer.encode(_FENCE + text)[len(fence) :]


_LAYER_COUNTS = ("encoder_layers", "decoder_layers")


def changed_depth(config: TransformerConfig, changes: Mapping[str, Any]) -> TransformerConfig:
    """`config` with `encoder_layers` and `decoder_layers` from `changes`, where given.

    Raises UsageError if `changes` has another value than `config` for any other key, and ModelError for an unknown key.
    """
    wanted = checked_values(TransformerConfig, changes)
    different = [key for key, value in wanted.items() if key not in _LAYER_COUNTS and value != getattr(config, key)]
    if different:
        told = ", ".join(f"{key} {getattr(config, key)}, not {wanted[key]}" for key in different)
        raise UsageError(f"the initial model has {told}; only encoder_layers and decoder_layers may differ from it")
    return TransformerConfig.from_dict(config.to_dict() | wanted)


def check_preset(config: TransformerConfig, name: str, changes: Mapping[str, Any]) -> None:
    """Raise UsageError if a size of the preset `name` differs from that in `config`, the configuration of the initial model.

    Sizes that are keys of `changes` are not compared. Raises ModelError for an unknown preset.
    """
    wanted = preset(name, config.vocabulary_size)
    sizes = [size for size in PRESET_SIZES if size not in changes and getattr(wanted, size) != getattr(config, size)]
    if sizes:
        told = ", ".join(f"{size} {getattr(config, size)}, not {getattr(wanted, size)}" for size in sizes)
        raise UsageError(
            f"preset {name} is not the shape of the initial model ({told}); leave it out, or set the numbers of layers in [model]"
        )


def with_depth(first: Transformer, config: TransformerConfig, dropout: float) -> Transformer:
    """A Transformer of `config` with the weights of `first`; `config` differs from `first.config` only in numbers of layers.

    `dropout` is its dropout rate. With fewer layers, the first ones are kept. With more, each new layer is a copy of the last
    trained one whose output projections onto the residual stream are zero. So a new pre-norm layer is initially the identity; a new
    post-norm layer initially applies its layer norms only.
    """
    model = Transformer(config, dropout)
    state = model.state_dict()
    weights = {name: value for name, value in first.state_dict().items() if name in state}
    for name in ("encoder.bias.weight", "bias.weight"):
        if name in weights:
            weights[name] = _with_tables(weights[name], len(state[name]), config.heads)
    model.load_state_dict(state | weights)
    for layers, trained in ((model.encoder.layers, first.encoder.layers), (model.layers, first.layers)):
        for layer in list(layers)[len(trained) :]:
            layer.load_state_dict(trained[-1].state_dict())
            _make_identity(layer)
    return model


def _with_tables(biases: Tensor, rows: int, heads: int) -> Tensor:
    """The first `rows` rows of the relative positions of layers (T * H, D), where the last table stands for layers that lack one."""
    missing = max(rows - len(biases), 0) // heads
    return torch.cat([biases, biases[-heads:].repeat(missing, 1)])[:rows]


def _make_identity(layer: nn.Module) -> None:
    assert isinstance(layer, EncoderLayer | DecoderLayer)
    products = [layer.attention.output, layer.feed_forward.outer]
    if isinstance(layer, DecoderLayer):
        products.append(layer.cross_attention.output)
    for product in products:
        nn.init.zeros_(product.weight)
        if product.bias is not None:
            nn.init.zeros_(product.bias)


def with_order(first: Transformer, order: str, dropout: float, mask: int = MASK) -> Transformer:
    """A Transformer of generation order `order` with the weights of `first`; `first` itself if it already has that order.

    `dropout` is the dropout rate of a new Transformer. Learned positions are initialised with those of `first`, sinusoidal or
    learned. In the bidirectional order, both tokens of a step are initialised with the position of the left one. A masked model has
    the mask token id `mask`, and a length head with random weights. Raises UsageError if `first` has neither `order` nor the order
    left-to-right, and ModelError for an unknown order or a mask id that a masked model cannot have.
    """
    if order == first.config.order:
        return first
    if first.config.order != "left-to-right":
        raise UsageError(f"a model of order {first.config.order} cannot initialise one of order {order}; only a left-to-right model can")
    model = Transformer(replace(first.config, **order_fields(order), mask=mask), dropout)
    model.load_state_dict(model.state_dict() | first.state_dict())
    if isinstance(model.embedding.positions, nn.Parameter):
        offset = first.embedding.offset
        rows = torch.arange(len(first.embedding.positions))
        if order == "bidirectional":
            rows = torch.where(rows < offset, rows, offset + (rows - offset) // 2)
        with torch.no_grad():
            model.encoder.embedding.positions.copy_(first.encoder.embedding.positions)
            model.embedding.positions.copy_(first.embedding.positions[rows])
    return model


def initial_verifier(plan: VerifierRecipe, first: Bundle | None, tokenizer: Tokenizer) -> Transformer:
    """A new model of the shape in `plan` or, if `first` is given, a copy of its verifier.

    The copy gets the vocabulary of `tokenizer`, the generation order and numbers of layers in `plan`, and random decoder layers if
    `plan` says so. Raises UsageError for a shape that a new model cannot have, if another size in `plan` differs from that of `first`,
    and for an order that the tokenizer does not allow.
    """
    if first is None:
        name = plan.preset or "small"
        try:
            shape = preset(name, len(tokenizer), **plan.model)
        except ModelError as error:
            raise UsageError(f"preset {name} with the recipe's [model]: {error}") from error
        model = Transformer(shape, plan.run.dropout)
    else:
        if plan.preset is not None:
            check_preset(first.verifier.config, plan.preset, plan.model)
        model = with_vocabulary(first, tokenizer, plan.run.dropout)
        model = with_order(model, plan.model.get("order", model.config.order), plan.run.dropout, tokenizer.mask)
        model = with_depth(model, changed_depth(model.config, plan.model), plan.run.dropout)
        if plan.decoder == "random":
            model.layers.load_state_dict(Transformer(model.config).layers.state_dict())
    order = model.config.order
    if order != "left-to-right" and tokenizer.special_tokens.forced is not None:
        raise UsageError(f"order {order}: this tokenizer begins every output with a language token, which needs left-to-right")
    return model
