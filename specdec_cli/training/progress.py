"""Data classes of the training loop: the progress that a checkpoint stores, and the report after each update."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass
class Progress:
    """Progress of a run, stored in its checkpoint.

    - `update`: the number of updates made.
    - `epoch`: the number of complete epochs.
    - `batch`: the number of batches of the current epoch that were used.
    - `batches`: the number of batches in the current epoch (0: a checkpoint of an older version).
    - `seconds`, `tokens`: totals over the run, earlier processes included.
    - `best`: the best value of the criterion so far, negated if lower is better (None: not evaluated yet).
    - `since_best`: the number of evaluations after the best one.
    """

    update: int = 0
    epoch: int = 0
    batch: int = 0
    batches: int = 0
    seconds: float = 0.0
    tokens: int = 0
    best: float | None = None
    since_best: int = 0


@dataclass(frozen=True)
class Report:
    """What the training loop reports after each update.

    `loss` (nats per token), `learning_rate` and `tokens_per_second` are those of this update. `figures` is the result of
    `TrainingTask.evaluate` if an evaluation was due after it, else empty.
    """

    progress: Progress
    loss: float
    learning_rate: float
    tokens_per_second: float
    figures: Mapping[str, float] = field(default_factory=dict)
