"""Recipes: the settings of a training run of a verifier or drafter."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from specdec_cli.errors import ModelError
from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.model.drafter_configs import AnyDrafterConfig
from specdec_cli.model.heads_config import HeadsConfig


@dataclass(frozen=True)
class OptimizerSettings:
    """AdamW and its learning-rate schedule.

    The rate rises linearly over `warmup` updates. With the schedule "inverse-sqrt" it then falls with the square root of the
    update number. With "constant" it stays, and from the fraction `decay_from` of `max_updates` on falls linearly to 0.
    `clip` is the largest norm of the gradient (0: no clipping).
    """

    learning_rate: float = 1e-3
    warmup: int = 1000
    schedule: Literal["constant", "inverse-sqrt"] = "constant"
    decay_from: float = 0.75
    betas: tuple[float, float] = (0.9, 0.98)
    epsilon: float = 1e-8
    weight_decay: float = 0.0
    clip: float = 1.0


@dataclass(frozen=True)
class RunSettings:
    """Length of a run, batches, regularisation, evaluation and checkpoints.

    `batch_tokens` counts padded positions of the longer side of a batch; `accumulation` batches make an update;
    `checkpoint_minutes` is in minutes, `evaluate_every` in updates, `patience` in evaluations without improvement (0: no
    limit). The state that is evaluated and saved is the mean of the last `average` evaluated states, interpolated with the
    initial state: `keep_start` is the weight of the initial state. A `keep_start` above 0 reduces forgetting in fine-tuning
    (Wortsman et al. 2022). In rewriting tasks, `edit_weight` is the loss weight of target tokens that differ from the source
    (Junczys-Dowmunt et al. 2018). For masked models, `length_weight` is the loss weight of the length prediction of a sentence,
    relative to that of a token.
    """

    max_updates: int = 20000
    max_epochs: int = 1000
    batch_tokens: int = 3072
    accumulation: int = 1
    dropout: float = 0.1
    smoothing: float = 0.1
    precision: str = "bf16-mixed"
    seed: int = 1
    checkpoint_minutes: float = 5.0
    evaluate_every: int = 1000
    patience: int = 0
    average: int = 1
    keep_start: float = 0.0
    edit_weight: float = 1.0
    length_weight: float = 1.0


@dataclass(frozen=True)
class VerifierRecipe:
    """Recipe of a verifier or teacher: a preset of its shape, `model` fields that change it, the optimiser, the run.

    Without a preset it is "small", or the shape of the initial model if there is one.
    """

    preset: str | None = None
    model: Mapping[str, Any] = field(default_factory=dict)
    optimizer: OptimizerSettings = OptimizerSettings()
    run: RunSettings = RunSettings()


@dataclass(frozen=True)
class DrafterRecipe:
    """Recipe of a block drafter or heads: their shape, the training blocks, the optimiser, the run.

    Each sentence is trained on the blocks after `cuts` of its prefixes: a single one is drawn uniformly; of several, the
    first is the empty prefix. With `vary_block`, half of the batches have a random block size of at most `drafter.max_block`;
    all others have `drafter.max_block`. The loss of slot j has the weight `slot_decay` ** j. `known` is the share of slots
    that condition on the true previous token through the slot link. `glancing` is the glancing ratio at the start and the
    end of the run, for block drafters only (0: no glancing).

    With `verifier` "fine-tuned", for heads only, the verifier's weights are trained too, by the cross-entropy of every
    target token in addition to that of the heads (Stern et al. 2018, Section 6). Raises ModelError for what is for the other kind.
    """

    drafter: AnyDrafterConfig = field(default_factory=DrafterConfig)
    verifier: Literal["frozen", "fine-tuned"] = "frozen"
    cuts: int = 3
    vary_block: bool = True
    slot_decay: float = 0.85
    known: float = 0.5
    glancing: tuple[float, float] = (0.0, 0.0)
    optimizer: OptimizerSettings = OptimizerSettings()
    run: RunSettings = RunSettings()

    def __post_init__(self) -> None:
        heads = isinstance(self.drafter, HeadsConfig)
        if heads and any(self.glancing):
            raise ModelError("glancing is for block drafters: heads have no mask tokens")
        if self.verifier == "fine-tuned" and not heads:
            raise ModelError('verifier "fine-tuned" is for heads: a block drafter has layers of its own')
