"""The module that is trained and its optimiser: whole in every process, or sharded over all of them."""

import copy
from collections.abc import Mapping
from typing import Any, cast

import torch
from lightning_fabric import Fabric
from torch import Tensor, nn
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_optimizer_state_dict, set_optimizer_state_dict
from torch.distributed.tensor import DTensor, distribute_tensor

from specdec_cli.training.recipe import OptimizerSettings

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
        own = self._module.state_dict()
        return {name: value.shape for name, value in own.items()} == {name: value.shape for name, value in weights.items()}

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
    """The keyword arguments of AdamW that stay the same for the whole run; the learning rate does not."""
    return {"betas": settings.betas, "eps": settings.epsilon, "weight_decay": settings.weight_decay}
