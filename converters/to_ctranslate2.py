"""Conversion of a bundle to a CTranslate2 folder."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, cast

import numpy
import torch
from ctranslate2.specs import common_spec, model_spec
from ctranslate2.specs.transformer_spec import TransformerSpec
from torch import Tensor, nn

from specdec_cli.errors import ModelError, UsageError
from specdec_cli.files import naming, new_folder
from specdec_cli.model.attention import Attention, RelativeBias
from specdec_cli.model.bundle import Bundle
from specdec_cli.model.layers import DecoderLayer, Embedding, EncoderLayer, FeedForward, Sublayer
from specdec_cli.model.transformer import Transformer

QUANTIZATIONS: tuple[str, ...] = tuple(model_spec.ACCEPTED_MODEL_TYPES)

_ACTIVATIONS = {
    "relu": common_spec.Activation.RELU,
    "gelu": common_spec.Activation.GELU,
    "gelu-tanh": common_spec.Activation.GELUTanh,
    "silu": common_spec.Activation.SWISH,
}
_NORMS = ("pre", "post")
_ORDERS = ("left-to-right",)
_POSITIONS = ("sinusoidal", "learned", "relative")


def to_ctranslate2(
    bundle: Bundle, output: Path, quantization: str | None = None, force: bool = False, check: Callable[[Path], None] | None = None
) -> None:
    """Write the verifier of `bundle` and its tokenizer to the new folder `output`, completely or not at all.

    `quantization` is the type in which weights are stored (default: float32). `check` is called with the temporary folder
    before it is renamed to `output`. `force` allows to replace a folder that holds a CTranslate2 model. Raises UsageError
    for a folder that may not be replaced and for an unknown quantization, and ModelError for a model that CTranslate2 does not
    support, naming its unsupported properties.
    """
    if quantization is not None and quantization not in QUANTIZATIONS:
        raise UsageError(f"--quantization {quantization}: not known; known are {', '.join(QUANTIZATIONS)}")
    problems = _unsupported(bundle)
    if problems:
        raise ModelError(f"CTranslate2 does not support this model: {'; '.join(problems)}")
    specification = _specification(bundle)
    with new_folder(output, "model.bin", force) as folder:
        specification.validate()
        specification.optimize(quantization=quantization)
        with naming(folder / "model.bin"):
            specification.save(str(folder))
        bundle.tokenizer.save(folder)
        if check is not None:
            check(folder)


def _unsupported(bundle: Bundle) -> list[str]:
    """Descriptions of everything in the model that CTranslate2 does not support."""
    config = bundle.verifier.config
    problems = [
        f"{name} {value!r} (supported: {', '.join(known)})"
        for name, value, known in (
            ("norm", config.norm, _NORMS),
            ("activation", config.activation, _ACTIVATIONS),
            ("positions", config.positions, _POSITIONS),
            ("order", config.order, _ORDERS),
        )
        if value not in known
    ]
    if len(bundle.tokenizer) != config.vocabulary_size:
        problems.append(f"a vocabulary of {config.vocabulary_size}, but {len(bundle.tokenizer)} pieces")
    epsilons = _epsilons(bundle.verifier)
    if len(epsilons) > 1:
        problems.append(f"norms with different epsilons ({', '.join(map(str, epsilons))})")
    return problems


def _epsilons(model: nn.Module) -> list[float]:
    return sorted({float(module.eps or 0) for module in model.modules() if isinstance(module, nn.LayerNorm | nn.RMSNorm)})


def _specification(bundle: Bundle) -> Any:
    model, config = bundle.verifier, bundle.verifier.config
    specification: Any = TransformerSpec.from_config(
        (config.encoder_layers, config.decoder_layers),
        config.heads,
        pre_norm=config.norm == "pre",
        activation=_ACTIVATIONS[config.activation],
        layernorm_embedding=config.embedding_norm,
        relative_attention_bias=config.positions == "relative",
        ffn_glu=config.gated,
        rms_norm=config.norm_kind == "rms",
    )
    _fill_encoder(specification.encoder, model)
    _fill_decoder(specification.decoder, model)
    tokenizer = bundle.tokenizer
    pieces = tokenizer.vocabulary()
    specification.register_source_vocabulary(tokenizer.source_vocabulary())
    specification.register_target_vocabulary(pieces)
    specification.config.unk_token = tokenizer.unknown
    specification.config.bos_token = pieces[config.decoder_start]
    specification.config.eos_token = pieces[config.eos]
    specification.config.decoder_start_token = pieces[config.decoder_start]
    # If the source has other special tokens than a final EOS, the caller of CTranslate2 adds all of them.
    specification.config.add_source_eos = not tokenizer.special_tokens.before and tokenizer.add_special_tokens([]) == [config.eos]
    specification.config.layer_norm_epsilon = _epsilons(model)[0]
    # Attributes of specdec, not of CTranslate2. With max_positions, too long sentences are rejected before a batch fails.
    specification.config.add_attribute("max_positions", config.max_positions)
    specification.config.add_attribute("source_language", bundle.info.source_language)
    specification.config.add_attribute("target_language", bundle.info.target_language)
    return specification


def _fill_encoder(target: Any, model: Transformer) -> None:
    encoder = model.encoder
    _fill_embedding(target, target.embeddings[0], encoder.embedding)
    for layer, ours in zip(target.layer, cast(Iterable[EncoderLayer], encoder.layers), strict=True):
        _fill_self_attention(layer.self_attention, ours.attention, ours.attention_residual)
        _fill_feed_forward(layer.ffn, ours.feed_forward)
    _fill_relative_positions(target, encoder.bias)
    if not isinstance(encoder.norm, nn.Identity):
        _fill_norm(target.layer_norm, encoder.norm)


def _fill_decoder(target: Any, model: Transformer) -> None:
    _fill_embedding(target, target.embeddings, model.embedding)
    for layer, ours in zip(target.layer, cast(Iterable[DecoderLayer], model.layers), strict=True):
        _fill_self_attention(layer.self_attention, ours.attention, ours.attention_residual)
        _fill_scale(layer.attention, ours.cross_attention)
        _fill_linear(layer.attention.linear[0], ours.cross_attention.query)
        _fill_linear(layer.attention.linear[1], ours.cross_attention.key_value)
        _fill_linear(layer.attention.linear[2], ours.cross_attention.output)
        _fill_norm(layer.attention.layer_norm, ours.cross_attention_residual.norm)
        _fill_feed_forward(layer.ffn, ours.feed_forward)
    _fill_relative_positions(target, model.bias)
    if not isinstance(model.norm, nn.Identity):
        _fill_norm(target.layer_norm, model.norm)
    _fill_linear(target.projection, model.output)


def _fill_embedding(target: Any, tokens: Any, embedding: Embedding) -> None:
    tokens.weight = _array(embedding.tokens.weight)
    target.scale_embeddings = embedding.scale != 1.0
    # Sinusoidal positions are stored as a table too, because CTranslate2's start at position 1.
    if len(embedding.positions):
        target.position_encodings.encodings = _array(embedding.positions)[embedding.offset :]
    if not isinstance(embedding.norm, nn.Identity):
        _fill_norm(target.layernorm_embedding, embedding.norm)


def _fill_relative_positions(target: Any, bias: RelativeBias | None) -> None:
    """Give each layer a table (buckets, heads). CTranslate2 has a bucket for each of the smallest distances, which are half of those in a
    direction, and logarithmic ones for the others: with twice as many as we have distances, all of them are among the smallest, and the
    others have the number of the farthest one. Keys ahead of the query have the second half of the table of an encoder.
    """
    if bias is None:
        return
    tables = bias.weight.view(-1, bias.heads, bias.last + 1)
    behind = tables[..., : bias.reach + 1].flip(-1)
    directions = [behind, tables[..., bias.reach :]] if bias.last > bias.reach else [behind]
    padded = [torch.cat([each, each[..., -1:].expand_as(each)], dim=-1) for each in directions]
    buckets = torch.cat(padded, dim=-1).transpose(1, 2)
    for number, layer in enumerate(target.layer):
        layer.self_attention.relative_attention_bias = _array(buckets[number if len(buckets) > 1 else 0])
        layer.self_attention.relative_attention_max_distance = numpy.dtype("int32").type(2 * (bias.reach + 1))


def _fill_self_attention(target: Any, attention: Attention, residual: Sublayer) -> None:
    _fill_scale(target, attention)
    _fill_linear(target.linear[0], attention.query_key_value)
    _fill_linear(target.linear[1], attention.output)
    _fill_norm(target.layer_norm, residual.norm)


def _fill_scale(target: Any, attention: Attention) -> None:
    scale = attention.head_width**-0.5 if attention.scale is None else attention.scale
    target.queries_scale = numpy.dtype("float32").type(scale)


def _fill_feed_forward(target: Any, feed_forward: FeedForward) -> None:
    inner = [target.linear_0, target.linear_0_noact] if feed_forward.gated else [target.linear_0]
    for number, each in enumerate(inner):
        each.weight = _array(feed_forward.inner.weight.chunk(len(inner))[number])
        if feed_forward.inner.bias is not None:
            each.bias = _array(feed_forward.inner.bias.chunk(len(inner))[number])
    _fill_linear(target.linear_1, feed_forward.outer)
    _fill_norm(target.layer_norm, feed_forward.residual.norm)


def _fill_linear(target: Any, linear: nn.Linear) -> None:
    target.weight = _array(linear.weight)
    if linear.bias is not None:
        target.bias = _array(linear.bias)


def _fill_norm(target: Any, norm: nn.LayerNorm | nn.RMSNorm) -> None:
    target.gamma = _array(norm.weight)
    if isinstance(norm, nn.LayerNorm):
        target.beta = _array(norm.bias)


def _array(tensor: Tensor) -> numpy.ndarray[Any, Any]:
    # A copy, because CTranslate2 quantises in place.
    return tensor.detach().float().cpu().numpy().copy()
