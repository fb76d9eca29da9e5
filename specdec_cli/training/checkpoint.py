"""Checkpoints of a training run, and what the run began with, which a run that resumes it is compared with."""

import copy
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, cast

import torch
from lightning_fabric import Fabric
from torch import Tensor, nn
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_optimizer_state_dict, set_optimizer_state_dict
from torch.distributed.tensor import DTensor, distribute_tensor

from specdec_cli.errors import InputError, ModelError, UsageError
from specdec_cli.files import write_atomically
from specdec_cli.training.recipe import OptimizerSettings

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


_WHOLE = StateDictOptions(full_state_dict=True)
_FROM_FIRST = StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)


class TrainedModule:
    """Trains `module` with AdamW: `run` is the callable to train, and `optimizer` updates its weights.

    If `sharded`, a copy of the module is trained, whose weights, gradients and optimiser state are shared among all processes (FSDP,
    Zhao et al. 2023), and `module` gets weights only by `load_state_dict`; all processes must then call each method together.
    """

    def __init__(self, module: nn.Module, settings: OptimizerSettings, fabric: Fabric, sharded: bool) -> None:
        self._module, self._settings, self._sharded = module, settings, sharded
        self._raw = copy.deepcopy(module) if sharded else module
        if sharded:
            fabric.to_device(module)
            self.run: Any = fabric.setup_module(self._raw)
            self._adam = _adam(self._raw, settings)
            self.optimizer: Any = fabric.setup_optimizers(self._adam)
        else:
            self._adam = _adam(module, settings)
            self.run, self.optimizer = fabric.setup(module, self._adam)

    def weights(self) -> dict[str, Tensor]:
        """A copy of the current weights, whole, by name."""
        state = self._raw.state_dict()
        return {name: value.full_tensor() if isinstance(value, DTensor) else value.detach().clone() for name, value in state.items()}

    def optimizer_state(self) -> dict[str, Any]:
        """The state of the optimiser, whole."""
        if self._sharded:
            return cast(dict[str, Any], get_optimizer_state_dict(self._raw, self._adam, options=_WHOLE))
        return self._adam.state_dict()

    def fits(self, weights: Mapping[str, Tensor]) -> bool:
        """Whether `weights` have the names and shapes of those of the module."""
        state = self._module.state_dict()
        return {name: value.shape for name, value in state.items()} == {name: value.shape for name, value in weights.items()}

    def load(self, weights: Mapping[str, Tensor], optimizer: Mapping[str, Any]) -> None:
        """Load the weights and the state of the optimiser: its moments, or nothing before the first update.

        Settings such as the learning rate keep their present values. Raises RuntimeError, ValueError or KeyError if the state is of
        another module.
        """
        self._module.load_state_dict(weights)
        if self._sharded:
            self._load_shards(weights)
        if optimizer and self._sharded:
            set_optimizer_state_dict(self._raw, self._adam, dict(optimizer), options=_FROM_FIRST)
        elif optimizer:
            self._adam.load_state_dict(dict(optimizer))
        for group in self._adam.param_groups:
            group |= _arguments(self._settings)

    @torch.no_grad()
    def _load_shards(self, weights: Mapping[str, Tensor]) -> None:
        for name, own in self._raw.state_dict().items():
            value = weights[name].to(own.device)
            own.copy_(distribute_tensor(value, own.device_mesh, own.placements) if isinstance(own, DTensor) else value)


def _adam(module: nn.Module, settings: OptimizerSettings) -> torch.optim.AdamW:
    weights = [p for p in module.parameters() if p.requires_grad]
    return torch.optim.AdamW(weights, lr=1e-9, fused=True, **_arguments(settings))


def _arguments(settings: OptimizerSettings) -> dict[str, Any]:
    """The keyword arguments of AdamW that are the same at each start of a run; the learning rate is not. Only an update that is captured as
    a graph is "capturable".
    """
    return {"betas": settings.betas, "eps": settings.epsilon, "weight_decay": settings.weight_decay, "capturable": False}
