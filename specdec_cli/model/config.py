"""The configuration of a Transformer, and presets."""

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from specdec_cli.errors import ModelError
from specdec_cli.fields import Between, StoredConfig, check_fields
from specdec_cli.model.order import Order, tokens_per_step
from specdec_cli.text.tokenize.sentencepiece import MASK

Norm = Literal["pre", "post"]
NormKind = Literal["layer", "rms"]
Activation = Literal["relu", "gelu", "gelu-tanh", "silu"]
Positions = Literal["sinusoidal", "learned", "relative"]
LARGEST_VOCABULARY = 2**24
Id = Annotated[int, Between(0, LARGEST_VOCABULARY)]
"""The id of a token; also the size of a vocabulary."""
Layers = Annotated[int, Between(1, 1024)]
Width = Annotated[int, Between(16, 2**14)]
WIDEST_FEED_FORWARD = 2**18
FeedForward = Annotated[int, Between(16, WIDEST_FEED_FORWARD)]


@dataclass(frozen=True)
class TransformerConfig(StoredConfig):
    """Configuration of an encoder-decoder Transformer (Vaswani et al. 2017), with the variants that trained models
    use.

    - `vocabulary_size`: tokens of the target vocabulary.
    - `width`: units of a state; a multiple of 16, because for other widths sums may be added up in another
      order, and of `heads` unless there is an `attention_width`.
    - `feed_forward`: inner width of the feed-forward layers, a multiple of 16.
    - `heads`: number of attention heads.
    - `encoder_layers`: number of encoder layers.
    - `decoder_layers`: number of decoder layers.
    - `norm`: layer normalisation before ("pre") or after ("post") each sublayer.
    - `activation`: activation function of the feed-forward layers; "gelu-tanh" is GELU approximated by tanh, as in T5.
    - `positions`: position embeddings are computed ("sinusoidal") or trained ("learned"), or there are none, and self-attention adds a
      trained number for each head and distance of key and query ("relative", as in T5).
    - `reach`: with relative positions, larger distances count as this one.
    - `layer_biases`: with relative positions, each layer has numbers of its own; without, the layers of a stack share theirs.
    - `norm_kind`: norms subtract the mean and add a bias ("layer"), or only scale ("rms", Zhang and Sennrich 2019).
    - `norm_epsilon`: what norms add to the variance.
    - `biases`: linear layers of encoder and decoder have biases.
    - `gated`: the feed-forward layers multiply the activation by a second product (Shazeer 2020).
    - `attention_width`: units of all heads together, a multiple of `heads` and of 16 (0: `width`).
    - `attention_scale`: scores of attention are divided by the square root of the width of a head.
    - `position_offset`: the row of the position table for the first token.
    - `max_positions`: rows of the position table.
    - `embedding_scale`: token embeddings are multiplied by the square root of `width`.
    - `embedding_norm`: layer normalisation of the embeddings.
    - `shared_embeddings`: encoder and decoder have the same token embeddings.
    - `tied_output`: the output projection is the decoder's token embedding.
    - `output_bias`: the output projection has a bias.
    - `padding`: the id of the padding.
    - `eos`: the id of the end of a sentence.
    - `decoder_start`: the id that the decoder reads first.
    - `source_vocabulary_size`: tokens of the source vocabulary (0: source and target share theirs).
    - `order`: the order in which the decoder writes tokens (see `Order`); positions are those in generation order.
    - `mask`: with order "masked", the id that the model reads in place of each token that is to be predicted.
    - `length_reach`: with order "masked", the model predicts how many tokens the target has more than the source, from minus this
      number to this number.

    Raises ModelError for values that are out of range, inconsistent, or an unknown variant.
    """

    vocabulary_size: Annotated[int, Between(1, LARGEST_VOCABULARY)]
    width: Width = 512
    feed_forward: FeedForward = 2048
    heads: Annotated[int, Between(1, 1024)] = 8
    encoder_layers: Annotated[int, Between(0, 1024)] = 6
    decoder_layers: Layers = 6
    norm: Norm = "pre"
    activation: Activation = "relu"
    positions: Positions = "sinusoidal"
    position_offset: Annotated[int, Between(0, 1024)] = 0
    max_positions: Annotated[int, Between(16, 2**16)] = 256
    embedding_scale: bool = True
    embedding_norm: bool = False
    shared_embeddings: bool = True
    tied_output: bool = True
    output_bias: bool = False
    padding: Id = 0
    eos: Id = 3
    decoder_start: Id = 2
    source_vocabulary_size: Id = 0
    order: Order = "left-to-right"
    mask: Id = MASK
    length_reach: Annotated[int, Between(1, 4096)] = 64
    reach: Annotated[int, Between(1, 2**16)] = 128
    layer_biases: bool = False
    norm_kind: NormKind = "layer"
    norm_epsilon: Annotated[float, Between(1e-12, 1e-2)] = 1e-5
    biases: bool = True
    gated: bool = False
    attention_width: Annotated[int, Between(0, 2**14)] = 0
    attention_scale: bool = True

    def __post_init__(self) -> None:
        check_fields(self)
        if self.source_vocabulary_size and self.shared_embeddings:
            raise ModelError("a separate source vocabulary requires separate embeddings (shared_embeddings)")
        sizes = {"padding": min(self.vocabulary_size, self.source_size), "eos": self.vocabulary_size, "decoder_start": self.vocabulary_size}
        if self.order == "masked":
            sizes["mask"] = self.vocabulary_size
        if self.padding == self.eos:
            raise ModelError(f"padding and eos are the same token, {self.eos}")
        for name, size in sizes.items():
            if getattr(self, name) >= size:
                raise ModelError(f"{name} is {getattr(self, name)}, but the vocabulary has {size} tokens")
        if self.heads_width % self.heads or self.heads_width % 16 or self.width % 16 or self.feed_forward % 16:
            name = f"attention_width {self.attention_width}" if self.attention_width else "the width"
            raise ModelError(
                f"width {self.width} and feed_forward {self.feed_forward} must be multiples of 16, and {name} a multiple of "
                f"{'16 and of ' if self.attention_width else ''}{self.heads} heads"
            )
        if self.positions == "relative" and self.order != "left-to-right":
            raise ModelError(f"order {self.order} needs learned or sinusoidal positions, not relative")
        if self.order == "bidirectional" and self.positions != "learned":
            raise ModelError(f"order bidirectional needs learned positions, not {self.positions}")
        if self.order == "masked" and self.mask in (self.padding, self.eos):
            raise ModelError(f"order masked needs a mask other than padding and EOS, not {self.mask}")
        if self.max_positions % self.step:
            raise ModelError(f"max_positions {self.max_positions} must be a multiple of 2 for order {self.order}")

    @property
    def step(self) -> int:
        """Tokens that the decoder writes per step: 1 or 2."""
        return tokens_per_step(self.order)

    @property
    def start(self) -> tuple[int, ...]:
        """The ids before every output: the decoder start, followed by EOS if a step writes two tokens."""
        return (self.decoder_start, self.eos)[: self.step]

    @property
    def source_size(self) -> int:
        """Number of tokens in the source vocabulary."""
        return self.source_vocabulary_size or self.vocabulary_size

    @property
    def head_width(self) -> int:
        """Width of an attention head."""
        return self.heads_width // self.heads

    @property
    def heads_width(self) -> int:
        """Width of all attention heads together."""
        return self.attention_width or self.width

    @property
    def half(self) -> Literal["float16", "bfloat16"]:
        """The number format of 16 bits for this model. RMS norms do not limit the states that are added up from layer to layer, and those
        of T5, which was trained in bfloat16, exceed the largest number of float16.
        """
        return "bfloat16" if self.norm_kind == "rms" else "float16"

    def bias_tables(self, layers: int) -> int:
        """Number of tables of relative positions in a stack of so many layers."""
        if self.positions != "relative":
            return 0
        return layers if self.layer_biases else min(layers, 1)

    @property
    def fewest_weights(self) -> int:
        """A lower bound on the number of weights: those of attention and feed-forward layers and of the target
        embedding.
        """
        attentions, layers = 4 * self.encoder_layers + 8 * self.decoder_layers, self.encoder_layers + self.decoder_layers
        products = attentions * self.heads_width + (3 if self.gated else 2) * layers * self.feed_forward
        return self.width * (self.vocabulary_size + products)


PRESET_SIZES = ("width", "feed_forward", "heads", "encoder_layers", "decoder_layers")
"""The sizes in which presets differ."""
_BASE = TransformerConfig(vocabulary_size=32768)
PRESETS: dict[str, TransformerConfig] = {
    "base": _BASE,
    "big": replace(_BASE, width=1024, feed_forward=4096, heads=16),
    "deep-shallow": replace(_BASE, encoder_layers=12, decoder_layers=2),
    "small": replace(_BASE, width=384, feed_forward=1536, heads=6, encoder_layers=6, decoder_layers=2),
    # The form of T5 v1.1 but for the scale of attention, which T5 has in its initial weights, with about as many weights as "small".
    "t5": replace(
        _BASE,
        width=384,
        feed_forward=1024,
        heads=6,
        encoder_layers=6,
        decoder_layers=2,
        activation="gelu-tanh",
        positions="relative",
        norm_kind="rms",
        norm_epsilon=1e-6,
        biases=False,
        gated=True,
    ),
}


def preset(name: str, vocabulary_size: int, /, **changes: Any) -> TransformerConfig:
    """The configuration of the preset `name` ("base", "big", "deep-shallow", "small" or "t5") with a vocabulary of
    `vocabulary_size` tokens, and with the values of `changes` in the fields that they name.

    Raises ModelError for an unknown name or field, and for values that are out of range or inconsistent.
    """
    if name not in PRESETS:
        raise ModelError(f"unknown preset {name!r}; known are {', '.join(PRESETS)}")
    return TransformerConfig.from_dict(PRESETS[name].to_dict() | changes | {"vocabulary_size": vocabulary_size})
