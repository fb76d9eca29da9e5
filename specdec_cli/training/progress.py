"""The progress of a training run, and what it reports after each update."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass
class Progress:
    """Progress of a run, stored in its checkpoint.

    `update` counts the updates of the run, `epoch` its complete epochs, `batch` the batches taken from the current epoch, which has
    `batches` of them (0 in older checkpoints); `seconds` and `tokens` are totals of the run, earlier processes included. `best` is
    the best value of the criterion so far (negated if lower is better; None before the first evaluation); `since_best` counts the
    evaluations after the one that gave it.
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
    """A run after an update: loss in nats a token and speed of this update; `figures` is the result of `evaluate` if due, else empty."""

    progress: Progress
    loss: float
    learning_rate: float
    tokens_per_second: float
    figures: Mapping[str, float] = field(default_factory=dict)
