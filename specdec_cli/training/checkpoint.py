"""Checkpoints of a training run, and what the run began with, which a run that resumes it is compared with."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from torch import Tensor

from specdec_cli.errors import InputError, ModelError, UsageError
from specdec_cli.files import write_atomically

FILE = "checkpoint.pt"
COMMAND = "command"
"""The name, among the settings, of the command that the run began with."""
_MODELS = ("--model", "--tokenizer")
"""The inputs that a run cannot exchange, because its weights are trained for them."""
_FREE = ("model.", "drafter.model.")
"""The beginnings of the names of settings that a recipe has only if it changes them."""
MALFORMED = (OSError, RuntimeError, ValueError, TypeError, KeyError, AttributeError, EOFError, UnpicklingError)
"""The errors of reading a file that is no checkpoint, or a damaged one."""


@dataclass(frozen=True)
class Beginning:
    """What a run began with. What the checkpoint of an older version lacks is not compared.

    - `settings`: values by name, such as run.seed.
    - `inputs`: digests of texts and models by the option that names them; None for one that is not given.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, str | None] = field(default_factory=dict)

    def changes(self, now: "Beginning") -> list[str]:
        """What the run began with that is another in `now`, such as "run.seed=1 (now 2)" and "another --data"."""
        names = [name for name in {**self.settings, **now.settings} if self._is_other(name, now)]
        if COMMAND in names:  # then all else differs, too
            return [self._change(COMMAND, now)]
        return [self._change(name, now) for name in names] + self._other_inputs(now)

    def check(self, now: "Beginning", fits: bool, checkpoint: Path) -> None:
        """Raise UsageError that names the changes if `now` cannot resume the run: it has another model or tokenizer.

        `fits` is whether the weights in `checkpoint` have the names and shapes of those of the present model.
        """
        others = self._other_inputs(now, _MODELS)
        if others or not fits:
            changes = ", ".join(others or self.changes(now)) or "another model"
            raise UsageError(f"{checkpoint}: cannot be resumed, its run began with {changes}; name another folder")

    def _is_other(self, name: str, now: "Beginning") -> bool:
        known = name in self.settings or (bool(self.settings) and name.startswith(_FREE))
        return known and self.settings.get(name) != now.settings.get(name)

    def _change(self, name: str, now: "Beginning") -> str:
        return f"{name}={json.dumps(self.settings.get(name))} (now {json.dumps(now.settings.get(name))})"

    def _other_inputs(self, now: "Beginning", names: tuple[str, ...] | None = None) -> list[str]:
        chosen = [name for name in now.inputs if names is None or name in names]
        return [f"another {name}" for name in chosen if name in self.inputs and self.inputs[name] != now.inputs[name]]


def write_checkpoint(path: Path, state: Mapping[str, Any], beginning: Beginning) -> None:
    """Write `state` and `beginning` to `path`, atomically. Raises InputError or OSError, naming `path`, if it cannot be written."""
    try:
        write_atomically(path, lambda partial: torch.save({**state, **asdict(beginning)}, partial))
    except RuntimeError as error:  # torch.save raises RuntimeError if the disk is full
        raise InputError(f"{path}: cannot be written ({first_line(error)})") from error


def read_checkpoint(path: Path) -> tuple[dict[str, Any], Beginning]:
    """The state in the file `path`, on the CPU, and what its run began with. Raises one of `MALFORMED` for a damaged file."""
    state = torch.load(path, map_location="cpu", weights_only=True)
    return state, Beginning(state.get("settings", {}), state.get("inputs", {}))


def random_states(device: torch.device) -> dict[str, Tensor]:
    """The states of torch's generators of random numbers: of the CPU ("random"), and of `device` if it is a GPU ("cuda_random").

    On a GPU, dropout draws from the latter.
    """
    states = {"random": torch.get_rng_state()}
    return states | ({"cuda_random": torch.cuda.get_rng_state(device)} if device.type == "cuda" else {})


def set_random_states(device: torch.device, states: Mapping[str, Any]) -> None:
    """Restore what `random_states` returned. Checkpoints of older versions, and of runs on a CPU, have no state of a GPU."""
    torch.set_rng_state(states["random"])
    if device.type == "cuda" and "cuda_random" in states:
        torch.cuda.set_rng_state(states["cuda_random"], device)


def damaged(path: Path, error: Exception) -> ModelError:
    """The error for a file that is not a checkpoint, or a damaged one, on which `error`, one of `MALFORMED`, was raised."""
    return ModelError(f"{path}: damaged, or not a checkpoint of specdec ({first_line(error)}); name another folder")


def first_line(error: Exception) -> str:
    """The first line of the message of an exception, or the name of its class."""
    return str(error).strip().partition("\n")[0] or type(error).__name__
