"""Construction of a Transformer from weights under fairseq's names, which Hugging Face models use too, and its position tables."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy
import torch
from torch import Tensor, nn

from specdec_cli.errors import ModelError, UsageError
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.storage import LazyMatrix, Parts
from specdec_cli.model.transformer import Transformer


def interleaved_frequencies(positions: int, width: int) -> Tensor:
    """The float32 position table (positions, width) of Marian models in transformers.

    The first half of a row are sines, the second half cosines, of position * 10000 ** (-2 i / width), i from 0 to width / 2 - 1;
    the position is the number of the row, from 0.
    """
    position, unit = numpy.arange(positions)[:, None], numpy.arange(width)[None]
    angles = position / numpy.power(10000, 2 * (unit // 2) / width)
    table = numpy.concatenate([numpy.sin(angles[:, 0::2]), numpy.cos(angles[:, 1::2])], axis=1)
    return torch.from_numpy(table).float()


def tensor2tensor_sinusoids(positions: int, width: int) -> Tensor:
    """The float32 position table (positions, width) of tensor2tensor and Marian; `width` must be even.

    The first half of a row are sines, the second half cosines, of the row's number (from 0) times width / 2 frequencies, which
    fall from 1 to 1/10000 in a geometric progression.
    """
    half = width // 2
    frequencies = torch.exp(torch.arange(half, dtype=torch.float) * -(math.log(10000) / (half - 1)))
    angles = torch.arange(positions, dtype=torch.float)[:, None] * frequencies
    return torch.cat([angles.sin(), angles.cos()], dim=1)


def fairseq_sinusoids(positions: int, width: int, padding: int) -> Tensor:
    """The float32 position table (positions, width) of fairseq: that of `tensor2tensor_sinusoids`, with zeros in row `padding`."""
    table = tensor2tensor_sinusoids(positions, width)
    table[padding] = 0
    return table


_DECODER_BIAS = "decoder.relative_bias.weight"
_ATTENTIONS = {"attention": "self_attn", "cross_attention": "encoder_attn"}
_NORMS = {
    "attention_residual.norm": "self_attn_layer_norm",
    "cross_attention_residual.norm": "encoder_attn_layer_norm",
    "feed_forward.residual.norm": "final_layer_norm",
}
_PRODUCTS = {"feed_forward.inner": "fc1", "feed_forward.outer": "fc2"}


def build_transformer(config: TransformerConfig, weights: Mapping[str, Tensor], strict: bool = False) -> tuple[Transformer, Parts]:
    """A Transformer of `config` with `weights` under fairseq's names (`encoder.layers.0.self_attn.q_proj.weight`, ...).

    The second half of a gated inner layer is `fc1_factors`; relative positions are `encoder.relative_bias` and `decoder.relative_bias`.
    Position tables begin with `config.position_offset` rows before that of the first token; the weight `output_bias` is the bias of the
    output projection. The model is in evaluation mode; its parameters are the weights themselves, but for products that are several
    matrices there, which are on the device "meta": the second result has their parts. Raises ModelError naming weights that are missing or
    have another shape and, if `strict`, weights that are not used.
    """
    count = sum(value.numel() for value in weights.values())
    if config.fewest_weights > 2 * count:  # checked before memory is allocated for a far too large model
        raise ModelError(f"weights: a model of these layers and sizes has at least {config.fewest_weights}, but there are {count}")
    loader = _WeightLoader(weights)
    with torch.device("meta"):  # no memory for what is replaced
        model = Transformer(config)
    with torch.no_grad():
        _fill_embedding(loader, "decoder", model.embedding)
        _fill_embedding(loader, "encoder", model.encoder.embedding)
        for index, layer in enumerate(model.encoder.layers):
            _fill_layer(loader, f"encoder.layers.{index}", layer)
        for index, layer in enumerate(model.layers):
            _fill_layer(loader, f"decoder.layers.{index}", layer)
        for side, norm in (("encoder", model.encoder.norm), ("decoder", model.norm)):
            if not isinstance(norm, nn.Identity):
                loader.fill(f"{side}.layer_norm", norm)
        for side, bias in (("encoder", model.encoder.bias), ("decoder", model.bias)):
            if bias is not None:
                loader.put(f"{side}.relative_bias.weight", bias, "weight")
        if not config.tied_output:
            loader.put("decoder.output_projection.weight", model.output, "weight")
        if config.output_bias:
            loader.put("output_bias", model.output, "bias")
    loader.check(strict)
    if config.tied_output:
        model.output.weight = model.embedding.tokens.weight
    names = {parameter: name for name, parameter in model.named_parameters()}
    return model.eval(), {names[joined]: LazyMatrix(parts) for joined, parts in loader.parted}


def keep_decoder_layers(
    config: TransformerConfig, weights: Mapping[str, Tensor], kept: Sequence[int]
) -> tuple[TransformerConfig, dict[str, Tensor]]:
    """A copy of `config` and of `weights` (fairseq's names) with only the decoder layers `kept` (counted from 0), in this order.

    The layers are numbered anew. Raises UsageError for a layer that does not exist and for an empty list.
    """
    absent = [layer for layer in kept if not 0 <= layer < config.decoder_layers]
    if absent or not kept:
        what = ", ".join(map(str, absent)) or "none"
        raise UsageError(f"decoder layers: the model has layers 0 to {config.decoder_layers - 1}, not {what}")
    prefix = "decoder.layers."
    chosen = {name: value for name, value in weights.items() if not name.startswith(prefix)}
    for new, old in enumerate(kept):
        start = f"{prefix}{old}."
        chosen |= {f"{prefix}{new}.{name.removeprefix(start)}": value for name, value in weights.items() if name.startswith(start)}
    if config.layer_biases:
        tables = weights[_DECODER_BIAS].view(config.decoder_layers, config.heads, -1)
        chosen[_DECODER_BIAS] = tables[list(kept)].flatten(0, 1)
    return replace(config, decoder_layers=len(kept)), chosen


class _WeightLoader:
    """Makes weights the parameters of modules, and collects errors for one message."""

    def __init__(self, weights: Mapping[str, Tensor]) -> None:
        self._weights = weights
        self._used: set[str] = set()
        self._problems: list[str] = []
        self._taken: dict[int, nn.Module] = {}
        self.parted: list[tuple[nn.Parameter, list[Tensor]]] = []

    def put(self, name: str, module: nn.Module, kind: str) -> None:
        """Make the weight `name` the parameter `kind` of `module`, or record an error if it is missing or has another shape."""
        found = self._checked(name, tuple(getattr(module, kind).shape))
        if found is None or self._taken.get(found.data_ptr()) is module:  # embeddings that encoder and decoder share
            return
        # Parameters that are trained apart have memory of their own.
        setattr(module, kind, nn.Parameter(found.clone() if found.data_ptr() in self._taken else found))
        self._taken[found.data_ptr()] = module

    def _checked(self, name: str, shape: tuple[int, ...]) -> Tensor | None:
        self._used.add(name)
        found = self._weights.get(name)
        if found is None:
            self._problems.append(f"{name} is missing")
        elif tuple(found.shape) != shape:
            self._problems.append(f"{name} is {tuple(found.shape)}, but the configuration requires {shape}")
        elif not found.is_floating_point():
            self._problems.append(f"{name} is stored as {str(found.dtype).removeprefix('torch.')}")
        else:
            return found
        return None

    def fill(self, name: str, module: nn.Module) -> None:
        """Make a weight and a bias those of a linear layer or layer norm."""
        for kind, _ in list(module.named_parameters()):
            self.put(f"{name}.{kind}", module, kind)

    def join(self, names: Sequence[str], linear: nn.Linear) -> None:
        """Join several linear layers to one, whose outputs are their concatenation: their biases, and the matrices later."""
        for kind, joined in list(linear.named_parameters()):
            shape = (joined.shape[0] // len(names), *joined.shape[1:])
            parts = [part for name in names if (part := self._checked(f"{name}.{kind}", shape)) is not None]
            if len(parts) == len(names) and kind == "bias":
                linear.bias = nn.Parameter(torch.cat(parts))
            elif len(parts) == len(names):
                self.parted.append((joined, parts))

    def check(self, strict: bool) -> None:
        """Raise ModelError naming the recorded errors and, if `strict`, the weights that were not used."""
        unused = sorted(self._weights.keys() - self._used) if strict else []
        problems = [*self._problems, *(f"{name} is not supported" for name in unused)]
        if problems:
            more = f"; and {len(problems) - 5} more" if len(problems) > 5 else ""
            raise ModelError(f"weights: {'; '.join(problems[:5])}{more}")


def _fill_embedding(loader: _WeightLoader, side: str, embedding: nn.Module) -> None:
    assert isinstance(embedding.tokens, nn.Embedding) and isinstance(embedding.positions, Tensor)
    loader.put(f"{side}.embed_tokens.weight", embedding.tokens, "weight")
    if len(embedding.positions):
        loader.put(f"{side}.embed_positions.weight", embedding, "positions")
    else:  # with relative positions
        embedding.positions = torch.empty(embedding.positions.shape)
    if isinstance(embedding.norm, nn.LayerNorm):
        loader.fill(f"{side}.layernorm_embedding", embedding.norm)


def _fill_layer(loader: _WeightLoader, prefix: str, layer: nn.Module) -> None:
    modules = dict(layer.named_modules())
    for ours, theirs in _ATTENTIONS.items():
        if ours not in modules:
            continue
        own, source = modules[ours], f"{prefix}.{theirs}"
        for parts in (("query", ["q_proj"]), ("key_value", ["k_proj", "v_proj"]), ("query_key_value", ["q_proj", "k_proj", "v_proj"])):
            product = getattr(own, parts[0], None)
            if product is not None:
                loader.join([f"{source}.{name}" for name in parts[1]], product)
        loader.fill(f"{source}.out_proj", modules[f"{ours}.output"])
    gated = getattr(modules["feed_forward"], "gated", False)
    for ours, theirs in (_NORMS | _PRODUCTS).items():
        if gated and theirs == "fc1":
            loader.join([f"{prefix}.fc1", f"{prefix}.fc1_factors"], modules[ours])
        elif ours in modules:
            loader.fill(f"{prefix}.{theirs}", modules[ours])
