"""Names and shapes of the tensors of models, in the order in which the library expects them."""

from collections.abc import Iterator

from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.drafter_config import DrafterConfig

Named = tuple[str, tuple[int, ...]]
"""The name of a tensor and its shape."""


def verifier_tensors(config: TransformerConfig) -> Iterator[Named]:
    """Yield the names and shapes of the tensors of encoder, decoder and output projection, in the order in which the
    library expects them; a shared tensor is named once.
    """
    width = config.width
    yield "encoder.embedding.tokens.weight", (config.source_size, width)
    yield from _embedding("encoder.embedding.", config)
    for number in range(config.encoder_layers):
        yield from _layer(f"encoder.layers.{number}.", config, config.feed_forward, decodes=False)
    if config.norm == "pre":
        yield from _norm("encoder.norm.", config)
    if tables := config.bias_tables(config.encoder_layers):
        yield "encoder.bias.weight", (tables * config.heads, 2 * config.reach + 1)
    if not config.shared_embeddings:
        yield "embedding.tokens.weight", (config.vocabulary_size, width)
    yield from _embedding("embedding.", config)
    for number in range(config.decoder_layers):
        yield from _layer(f"layers.{number}.", config, config.feed_forward, decodes=True)
    if config.norm == "pre":
        yield from _norm("norm.", config)
    if tables := config.bias_tables(config.decoder_layers):
        yield "bias.weight", (tables * config.heads, config.reach + 1)
    if not config.tied_output:
        yield "output.weight", (config.vocabulary_size, width)
    if config.output_bias:
        yield "output.bias", (config.vocabulary_size,)


def unread_tensors(config: TransformerConfig) -> Iterator[Named]:
    """Yield the names and shapes of a verifier's other tensors, which the library does not read: those of a length head."""
    if config.order == "masked":
        yield from _linear("length_head.output.", config.width, 2 * config.length_reach + 1)


def drafter_tensors(drafter: DrafterConfig, config: TransformerConfig) -> Iterator[Named]:
    """Yield the names and shapes of the tensors of a block drafter for a verifier of shape `config`, in the order in
    which the library expects them.
    """
    width = config.width
    yield "slots", (drafter.max_block, width)
    for number in range(drafter.layers):
        yield from _layer(f"layers.{number}.", config, drafter.feed_forward, decodes=True)
    yield from _norm("norm.", config)
    if drafter.prefix == "own":
        yield "prefix_mark", (width,)
    else:
        yield from _linear("prefix_keys_values.", width, 2 * config.heads_width * drafter.layers)
        yield from _linear("previous_state.", width, width)
    if drafter.chain:
        yield from _linear("chain.from_state.", width, drafter.chain)
        yield "chain.from_token.weight", (drafter.chain, width)
        yield "chain.unknown", (drafter.chain,)
        yield from _linear("chain.output.", drafter.chain, width)
        if drafter.recurrent:
            yield "chain.recurrent.weight", (drafter.chain, drafter.chain)


def _embedding(name: str, config: TransformerConfig) -> Iterator[Named]:
    if config.positions == "learned":
        yield f"{name}positions", (config.max_positions + config.position_offset, config.width)
    if config.embedding_norm:
        yield from _norm(f"{name}norm.", config)


def _layer(name: str, config: TransformerConfig, inner: int, *, decodes: bool) -> Iterator[Named]:
    width, attention, bias = config.width, config.heads_width, config.biases
    yield from _norm(f"{name}attention_residual.norm.", config)
    yield from _linear(f"{name}attention.query_key_value.", width, 3 * attention, bias=bias)
    yield from _linear(f"{name}attention.output.", attention, width, bias=bias)
    if decodes:
        yield from _norm(f"{name}cross_attention_residual.norm.", config)
        yield from _linear(f"{name}cross_attention.query.", width, attention, bias=bias)
        yield from _linear(f"{name}cross_attention.key_value.", width, 2 * attention, bias=bias)
        yield from _linear(f"{name}cross_attention.output.", attention, width, bias=bias)
    yield from _norm(f"{name}feed_forward.residual.norm.", config)
    yield from _linear(f"{name}feed_forward.inner.", width, (2 if config.gated else 1) * inner, bias=bias)
    yield from _linear(f"{name}feed_forward.outer.", inner, width, bias=bias)


def _norm(name: str, config: TransformerConfig) -> Iterator[Named]:
    yield f"{name}weight", (config.width,)
    if config.norm_kind == "layer":
        yield f"{name}bias", (config.width,)


def _linear(name: str, inputs: int, outputs: int, *, bias: bool = True) -> Iterator[Named]:
    yield f"{name}weight", (outputs, inputs)
    if bias:
        yield f"{name}bias", (outputs,)
