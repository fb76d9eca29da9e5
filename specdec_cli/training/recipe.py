"""What a training run does, read from TOML and changed by `key=value`."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from specdec_cli.errors import ModelError, UsageError
from specdec_cli.model.config import config_from_dict
from specdec_cli.model.drafter import DrafterConfig

T = TypeVar("T")


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
    """How long to train and how to watch it; times in minutes, `batch_tokens` in padded target tokens a batch."""

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


@dataclass(frozen=True)
class VerifierRecipe:
    """A verifier or teacher: preset and changes of its shape, the optimiser, the run."""

    preset: str = "small"
    model: Mapping[str, Any] = field(default_factory=dict)
    optimizer: OptimizerSettings = OptimizerSettings()
    run: RunSettings = RunSettings()


@dataclass(frozen=True)
class DrafterRecipe:
    """A block drafter: its shape, the blocks it learns from, the optimiser, the run.

    `cuts` blocks a sentence, the empty prefix among them; slot j weighs `slot_decay` ** j; the token before a slot
    is `known` to the chain in that share of cases; `glancing` is the ratio at the start and at the end (0: none).
    """

    drafter: DrafterConfig = field(default_factory=DrafterConfig)
    cuts: int = 3
    slot_decay: float = 0.85
    known: float = 0.5
    glancing: tuple[float, float] = (0.0, 0.0)
    optimizer: OptimizerSettings = OptimizerSettings()
    run: RunSettings = RunSettings()


def load_recipe(kind: type[T], path: Path | None, changes: Sequence[str] = ()) -> T:
    """Read a recipe of `kind` and apply changes such as `run.seed=2`.

    Raises UsageError for a change that is no `key=value`, ModelError naming the file and an unknown key.
    """
    values: dict[str, Any] = {}
    if path is not None:
        try:
            values = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise ModelError(f"{path}: not a readable recipe ({error})") from error
    try:
        return build(kind, apply_changes(values, changes))
    except ModelError as error:
        raise ModelError(f"{path or 'recipe'}: {error}") from error


def apply_changes(values: dict[str, Any], changes: Sequence[str]) -> dict[str, Any]:
    """`values` with changes such as `run.seed=2`; a value is TOML, or else taken as text. Raises UsageError."""
    for change in changes:
        _apply(values, change)
    return values


def _apply(values: dict[str, Any], change: str) -> None:
    key, separator, text = change.partition("=")
    if not separator:
        raise UsageError(f"--set {change}: expected key=value, such as run.seed=2")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text
    *path, last = key.strip().split(".")
    for name in path:
        values = values.setdefault(name, {})
        if not isinstance(values, dict):
            raise UsageError(f"--set {change}: {name} is a value and has no keys")
    values[last] = value


def build(kind: type[T], values: Mapping[str, Any]) -> T:
    """Build a recipe dataclass, with its nested ones, from plain values. Raises ModelError naming an unknown key."""
    nested = {f.name: f.type for f in fields(kind) if isinstance(f.type, type) and is_dataclass(f.type)}  # type: ignore[arg-type]
    prepared: dict[str, Any] = {}
    for key, value in values.items():
        if key in nested:
            if not isinstance(value, Mapping):
                raise ModelError(f"{key!r} has keys of its own and cannot be {value!r}")
            prepared[key] = build(nested[key], value)
        else:
            prepared[key] = tuple(value) if isinstance(value, list) else value
    return config_from_dict(kind, prepared)
