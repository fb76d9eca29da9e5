"""The weights that a pass of the native engine reads, and its products of bytes, by the shape of the model."""

from dataclasses import dataclass

from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.drafter_config import DrafterConfig


@dataclass(frozen=True)
class Work:
    """The work of a pass: the number of weights that it reads, of one byte each, and of its products of bytes.

    Products of attention, which are of float32, are not counted.
    """

    weights: int
    products: int


def encoder_work(config: TransformerConfig, tokens: int) -> Work:
    """The work of the encoder for a source of `tokens` tokens, and of the keys and values that the decoder's layers attend to."""
    layers = config.encoder_layers * _layer(config.width, config.feed_forward) + config.decoder_layers * 2 * config.width**2
    return Work(layers, layers * tokens)


def decoder_work(config: TransformerConfig, positions: int) -> Work:
    """The work of a pass of the decoder over `positions` positions, output projection included."""
    weights = config.decoder_layers * _decoder_layer(config.width, config.feed_forward) + config.width * config.vocabulary_size
    return Work(weights, weights * positions)


def drafter_work(config: TransformerConfig, drafter: DrafterConfig, tokens: int) -> Work:
    """The work of drafting `tokens` tokens with a drafter over the verifier's states, after a round that added one token to the output."""
    width, link = config.width, drafter.chain
    once = 2 * width**2 * drafter.layers + width**2 + link * width  # the new state, the last state, and the last token
    output = width * min(drafter.shortlist or config.vocabulary_size, config.vocabulary_size)
    block = drafter.layers * _decoder_layer(width, drafter.feed_forward) + output + 2 * link * width
    recurrent = link**2 if drafter.recurrent else 0
    later = 2 * link * width + recurrent  # what the link computes once more in each slot but the first
    return Work(once + block + recurrent, once + block * tokens + later * (tokens - 1))


def _layer(width: int, inner: int) -> int:
    return 4 * width**2 + 2 * width * inner


def _decoder_layer(width: int, inner: int) -> int:
    """Without the keys and values of the memory, which are computed once for a source."""
    return _layer(width, inner) + 2 * width**2
