"""fairseq's names for the weights of a Transformer, which transformers took over, and our module for them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from specdec_cli.errors import ModelError, UsageError
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.transformer import Transformer

_ATTENTIONS = {"attention": "self_attn", "cross_attention": "encoder_attn"}
_NORMS = {
    "attention_residual.norm": "self_attn_layer_norm",
    "cross_attention_residual.norm": "encoder_attn_layer_norm",
    "feed_forward.residual.norm": "final_layer_norm",
}
_PRODUCTS = {"feed_forward.inner": "fc1", "feed_forward.outer": "fc2"}


def build_transformer(config: TransformerConfig, weights: Mapping[str, Tensor], strict: bool = False) -> Transformer:
    """Our model with `weights` under fairseq's names (`encoder.layers.0.self_attn.q_proj.weight`, ...).

    Position tables are whole, offset included; `output_bias` is the bias of the output projection. Raises ModelError naming
    every weight that is missing or of another shape and, if `strict`, every one that our model has no place for.
    """
    held = sum(value.numel() for value in weights.values())
    if config.fewest_weights > 2 * held:  # before memory is allocated; what differs by less is named below
        raise ModelError(f"weights: a model of these layers and sizes has at least {config.fewest_weights}, but there are {held}")
    names = _Names(weights)
    model = Transformer(config)
    with torch.no_grad():
        _fill_embedding(names, "encoder", model.encoder.embedding)
        _fill_embedding(names, "decoder", model.embedding)
        for index, layer in enumerate(model.encoder.layers):
            _fill_layer(names, f"encoder.layers.{index}", layer)
        for index, layer in enumerate(model.layers):
            _fill_layer(names, f"decoder.layers.{index}", layer)
        for side, norm in (("encoder", model.encoder.norm), ("decoder", model.norm)):
            if isinstance(norm, nn.LayerNorm):
                names.fill(f"{side}.layer_norm", norm)
        if not config.tied_output:
            names.copy("decoder.output_projection.weight", model.output.weight)
        if config.output_bias:
            names.copy("output_bias", model.output.bias)
    names.check(strict)
    return model.eval()


def keep_decoder_layers(
    config: TransformerConfig, weights: Mapping[str, Tensor], kept: Sequence[int]
) -> tuple[TransformerConfig, dict[str, Tensor]]:
    """Only the layers `kept` (from 0, in this order) of the decoder. Raises UsageError for one that is not there."""
    absent = [layer for layer in kept if not 0 <= layer < config.decoder_layers]
    if absent or not kept:
        what = ", ".join(map(str, absent)) or "none"
        raise UsageError(f"--decoder-layers: the model has layers 0 to {config.decoder_layers - 1}, not {what}")
    prefix = "decoder.layers."
    chosen = {name: value for name, value in weights.items() if not name.startswith(prefix)}
    for new, old in enumerate(kept):
        start = f"{prefix}{old}."
        chosen |= {f"{prefix}{new}.{name.removeprefix(start)}": value for name, value in weights.items() if name.startswith(start)}
    return replace(config, decoder_layers=len(kept)), chosen


class _Names:
    """Looks weights up, and remembers what was wrong, so that all of it is said at once."""

    def __init__(self, weights: Mapping[str, Tensor]) -> None:
        self._weights = weights
        self._asked: set[str] = set()
        self._problems: list[str] = []

    def copy(self, name: str, target: Tensor) -> None:
        """Copy a weight, if it is there and of `target`'s shape."""
        self._asked.add(name)
        found = self._weights.get(name)
        if found is None:
            self._problems.append(f"{name} is missing")
        elif found.shape != target.shape:
            self._problems.append(f"{name} is {tuple(found.shape)}, the configuration asks for {tuple(target.shape)}")
        else:
            target.copy_(found)

    def fill(self, name: str, module: nn.Module) -> None:
        """Copy the weight and the bias of a linear layer or a norm."""
        for kind, parameter in module.named_parameters():
            self.copy(f"{name}.{kind}", parameter)

    def join(self, names: Sequence[str], linear: nn.Linear) -> None:
        """Several linear layers as one."""
        for name, weight, bias in zip(names, linear.weight.chunk(len(names)), linear.bias.chunk(len(names)), strict=True):
            self.copy(f"{name}.weight", weight)
            self.copy(f"{name}.bias", bias)

    def check(self, strict: bool) -> None:
        """Raises ModelError if anything was wrong or, if `strict`, left over."""
        left = sorted(self._weights.keys() - self._asked) if strict else []
        problems = [*self._problems, *(f"{name} has no place in our model" for name in left)]
        if problems:
            more = f"; and {len(problems) - 5} more" if len(problems) > 5 else ""
            raise ModelError(f"weights: {'; '.join(problems[:5])}{more}")


def _fill_embedding(names: _Names, side: str, embedding: nn.Module) -> None:
    assert isinstance(embedding.tokens, nn.Embedding) and isinstance(embedding.positions, Tensor)
    names.copy(f"{side}.embed_tokens.weight", embedding.tokens.weight)
    names.copy(f"{side}.embed_positions.weight", embedding.positions)
    if isinstance(embedding.norm, nn.LayerNorm):
        names.fill(f"{side}.layernorm_embedding", embedding.norm)


def _fill_layer(names: _Names, prefix: str, layer: nn.Module) -> None:
    modules = dict(layer.named_modules())
    for ours, theirs in _ATTENTIONS.items():
        if ours not in modules:
            continue
        own, source = modules[ours], f"{prefix}.{theirs}"
        for parts in (("query", ["q_proj"]), ("key_value", ["k_proj", "v_proj"]), ("query_key_value", ["q_proj", "k_proj", "v_proj"])):
            product = getattr(own, parts[0], None)
            if product is not None:
                names.join([f"{source}.{name}" for name in parts[1]], product)
        names.fill(f"{source}.out_proj", modules[f"{ours}.output"])
    for ours, theirs in (_NORMS | _PRODUCTS).items():
        if ours in modules:
            names.fill(f"{prefix}.{theirs}", modules[ours])
