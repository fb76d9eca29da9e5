"""Recipes: the settings of a training run of a verifier or drafter."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Literal

from specdec_cli.errors import ModelError
from specdec_cli.fields import Between, checked_values
from specdec_cli.model.config import LARGEST_VOCABULARY, TransformerConfig, preset
from specdec_cli.model.drafter_config import AnyDrafterConfig, DrafterConfig, HeadsConfig

Share = Annotated[float, Between(0, 1)]
Weight = Annotated[float, Between(0, 1000)]
Count = Annotated[int, Between(1, 10**9)]
CountOrNone = Annotated[int, Between(0, 10**9)]
DecayRate = Annotated[float, Between(0, 0.999999)]
DEV_LINES = 400
"""The number of lines of a drafter's dev set that are used, from its beginning."""
SET_BY_TOKENIZER = ("vocabulary_size", "source_vocabulary_size", "padding", "eos", "decoder_start", "mask")
"""The fields of a model's shape whose values are those of its tokenizer."""
_OF_LENGTH = ("max_updates", "max_epochs", "patience", "checkpoint_minutes", "evaluate_every", "sharded")
"""Fields of RunSettings that may have other values when a run is resumed, because updates do not depend on them."""


def order_fields(order: str | None) -> dict[str, Any]:
    """The TransformerConfig fields that follow from the generation order `order`; empty for None.

    A bidirectional model has learned positions, because the two tokens of a step are not adjacent in the sentence (Imamura and
    Sumita 2020, Section 3.1).
    """
    if order is None:
        return {}
    return {"order": order} | ({"positions": "learned"} if order == "bidirectional" else {})


@dataclass(frozen=True)
class OptimizerSettings:
    """AdamW and its learning-rate schedule.

    - `learning_rate`: the peak, reached after the warm-up.
    - `warmup`: updates in which the rate rises linearly.
    - `schedule`: after the warm-up, with "inverse-sqrt" the rate falls with the inverse square root of the update number; with
      "constant" it stays, and then falls linearly to 0.
    - `decay_from`: with "constant", the fraction of `max_updates` (0 to 1) after which the rate falls.
    - `betas`: decay rates of the mean gradient and of the mean squared gradient.
    - `epsilon`: AdamW's epsilon, which is added to the denominator of the update.
    - `weight_decay`: the weight decay, decoupled from the gradient.
    - `clip`: the norm to which a larger gradient is scaled down (0: no clipping).
    """

    learning_rate: Annotated[float, Between(0, 100)] = 1e-3
    warmup: CountOrNone = 1000
    schedule: Literal["constant", "inverse-sqrt"] = "constant"
    decay_from: Share = 0.75
    betas: tuple[DecayRate, DecayRate] = (0.9, 0.98)
    epsilon: Share = 1e-8
    weight_decay: Weight = 0.0
    clip: Annotated[float, Between(0, 10**9)] = 1.0


Precision = Literal["auto", "32-true", "16-mixed", "bf16-mixed", "16-true", "bf16-true", "64-true"]
"""A number format of the arithmetic of training: one of Lightning Fabric, or "auto"."""


@dataclass(frozen=True)
class RunSettings:
    """Length of a run, batches, regularisation, evaluation and checkpoints.

    - `max_updates`: updates after which the run ends.
    - `max_epochs`: epochs after which it ends, if they come first.
    - `batch_tokens`: number of positions of a batch on its longer side (source or target), padding included.
    - `accumulation`: number of batches whose gradients are averaged for an update.
    - `dropout`: the dropout rate.
    - `smoothing`: the label smoothing, the probability mass that is spread over the vocabulary.
    - `precision`: number format of the arithmetic, as Lightning Fabric names it, or "auto": "bf16-mixed" on a device with
      instructions for bfloat16, "32-true" on others, where bfloat16 would be many times slower. "16-mixed" needs a GPU; on a CPU it
      is the same as "auto".
    - `seed`: seed of all random numbers.
    - `checkpoint_minutes`: minutes between checkpoints.
    - `evaluate_every`: updates between evaluations.
    - `patience`: evaluations without improvement after which the run ends (0: no limit).
    - `average`: number of the last evaluated states whose mean is evaluated and saved.
    - `keep_start`: weight of the initial state in an interpolation with that mean. A weight above 0 reduces forgetting in
      fine-tuning (Wortsman et al. 2022).
    - `edit_weight`: in rewriting tasks, the loss weight of target tokens that differ from the source (Junczys-Dowmunt et al.
      2018).
    - `length_weight`: for masked models, the loss weight of the length prediction of a sentence, relative to that of a token.
    - `sharded`: whether the processes of a run share the weights, gradients and optimiser state (FSDP), for models that do not fit a
      device otherwise. Evaluation needs the whole weights on each device, in their training precision.
    """

    max_updates: Count = 20000
    max_epochs: Count = 1000
    batch_tokens: Count = 3072
    accumulation: Count = 1
    dropout: Annotated[float, Between(0, 0.99)] = 0.1
    smoothing: Share = 0.1
    precision: Precision = "auto"
    seed: Annotated[int, Between(0, 2**32 - 1)] = 1
    checkpoint_minutes: Annotated[float, Between(0, 10**9)] = 5.0
    evaluate_every: Count = 1000
    patience: CountOrNone = 0
    average: Count = 1
    keep_start: Share = 0.0
    edit_weight: Weight = 1.0
    length_weight: Weight = 1.0
    sharded: bool = False


@dataclass(frozen=True)
class VerifierRecipe:
    """Recipe of a verifier or teacher. Raises ModelError for a shape that a model cannot have.

    Without a preset, each field of the shape is checked alone: the others are those of an initial model, which is not known here.

    - `preset`: a named shape ("small" if there is neither a preset nor an initial model).
    - `model`: fields of the shape that differ from the preset.
    - `decoder`: the weights that the layers of the decoder begin with: those of the initial model, or "random" ones.
    - `optimizer`: the optimiser.
    - `run`: the run.
    """

    preset: str | None = None
    model: Mapping[str, Any] = field(default_factory=dict)
    decoder: Literal["initial", "random"] = "initial"
    optimizer: OptimizerSettings = OptimizerSettings()
    run: RunSettings = RunSettings()

    def __post_init__(self) -> None:
        for name in SET_BY_TOKENIZER:
            if name in self.model:
                raise ModelError(f"{name} is that of the tokenizer and cannot be set")
        try:
            if self.preset is None:
                checked_values(TransformerConfig, self.model)
            else:
                preset(self.preset, LARGEST_VOCABULARY, **{**self.model, **order_fields(self.model.get("order"))})
        except ModelError as error:
            raise ModelError(f"model: {error}") from error


@dataclass(frozen=True)
class DrafterRecipe:
    """Recipe of a block drafter or heads. Raises ModelError for a setting that only the other kind has, and for `drafter.mask`.

    - `drafter`: the shape of the drafter.
    - `cuts`: number of prefixes of a sentence after which a block is trained. A single prefix is drawn uniformly; of several, the
      first is the empty prefix.
    - `vary_block`: whether half of the batches have a random block size of at most `drafter.max_block`; the others have that size.
    - `slot_decay`: weight of the loss of a slot relative to that of the slot before it.
    - `known`: share of slots whose slot link gets the true previous token; the others get a trained vector for an unknown token.
    - `glancing`: glancing ratio at the start and the end of the run, for block drafters only (0: no glancing).
    - `verifier`: "frozen", or for heads only "fine-tuned". In that case the verifier's weights are trained too: the cross-entropy of
      every target token is added to the loss of the heads (Stern et al. 2018, Section 6).
    - `optimizer`: the optimiser.
    - `run`: the run.
    """

    drafter: AnyDrafterConfig = field(default_factory=DrafterConfig)
    verifier: Literal["frozen", "fine-tuned"] = "frozen"
    cuts: Annotated[int, Between(1, 1024)] = 3
    vary_block: bool = True
    slot_decay: Share = 0.85
    known: Share = 0.5
    glancing: tuple[Share, Share] = (0.0, 0.0)
    optimizer: OptimizerSettings = OptimizerSettings()
    run: RunSettings = RunSettings()

    def __post_init__(self) -> None:
        if isinstance(self.drafter, DrafterConfig) and self.drafter.mask != DrafterConfig.mask:
            raise ModelError("drafter.mask is that of the tokenizer and cannot be set")
        heads = isinstance(self.drafter, HeadsConfig)
        if heads and any(self.glancing):
            raise ModelError("glancing is for block drafters: heads have no mask tokens")
        if self.verifier == "fine-tuned" and not heads:
            raise ModelError('verifier "fine-tuned" is for heads: a block drafter has layers of its own')


def update_settings(recipe: VerifierRecipe | DrafterRecipe) -> dict[str, Any]:
    """The settings from which it follows what the updates of a run compute, by names such as run.seed."""
    return {name: value for name, value in _by_name(asdict(recipe)).items() if name not in {f"run.{each}" for each in _OF_LENGTH}}


def _by_name(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    named: dict[str, Any] = {}
    for key, value in values.items():
        named |= _by_name(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {f"{prefix}{key}": value}
    return named
