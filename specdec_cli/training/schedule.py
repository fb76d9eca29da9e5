"""Learning-rate schedules."""

import math

from specdec_cli.training.recipe import OptimizerSettings


def learning_rate(settings: OptimizerSettings, update: int, max_updates: int) -> float:
    """The learning rate of update number `update` (from 1) in a run of `max_updates`; see OptimizerSettings."""
    if update <= settings.warmup:
        return settings.learning_rate * update / settings.warmup
    if settings.schedule == "inverse-sqrt":
        return settings.learning_rate * math.sqrt(max(settings.warmup, 1) / update)
    decay_start = settings.decay_from * max_updates
    if update <= decay_start:
        return settings.learning_rate
    return settings.learning_rate * max(0.0, (max_updates - update) / (max_updates - decay_start))
