"""What a training run does: the recipes of verifiers and drafters."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from specdec_cli.errors import ModelError
from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.model.drafters import AnyDrafterConfig
from specdec_cli.model.heads_config import HeadsConfig


@dataclass(frozen=True)
class OptimizerSettings:
    """Adam with decoupled weight decay, and its learning rate over the updates.

    `schedule` "inverse-sqrt" falls with the square root after the warm-up; "constant" stays, and from
    `decay_from` (a fraction of `max_updates`) on falls in a line to 0.
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
    """How long to train and how to watch it; times in minutes, `batch_tokens` in padded target tokens a batch.

    What is judged and stored is the mean of the last `average` evaluated states, and to the share `keep_start` the
    state that training began from: for a second stage, which forgets less that way (Wortsman et al. 2022). Where the
    task is rewriting, tokens that the source does not have weigh `edit_weight` (Junczys-Dowmunt et al. 2018).
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


@dataclass(frozen=True)
class VerifierRecipe:
    """A verifier or teacher: preset and changes of its shape, the optimiser, the run."""

    preset: str = "small"
    model: Mapping[str, Any] = field(default_factory=dict)
    optimizer: OptimizerSettings = OptimizerSettings()
    run: RunSettings = RunSettings()


@dataclass(frozen=True)
class DrafterRecipe:
    """A block drafter or heads: their shape, the blocks they learn from, the optimiser, the run.

    `cuts` prefixes a sentence are each followed by a block: one is drawn uniformly, of several the first is empty.
    With `vary_block`, half of the batches have a random block size of at most `drafter.max_block`; without it, every
    block has that size. Slot j weighs `slot_decay` ** j; the token before a slot is `known` to the chain in that share
    of cases; `glancing` is the ratio at the start and at the end (0: none), for block drafters.
    """

    drafter: AnyDrafterConfig = field(default_factory=DrafterConfig)
    cuts: int = 3
    vary_block: bool = True
    slot_decay: float = 0.85
    known: float = 0.5
    glancing: tuple[float, float] = (0.0, 0.0)
    optimizer: OptimizerSettings = OptimizerSettings()
    run: RunSettings = RunSettings()

    def __post_init__(self) -> None:
        if isinstance(self.drafter, HeadsConfig) and any(self.glancing):
            raise ModelError("glancing is for block drafters: heads read no masks")
