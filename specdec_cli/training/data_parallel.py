"""Training in several processes: their start, their share of each update, and sums over them."""

import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from lightning_fabric import Fabric
from lightning_fabric.strategies.ddp import DDPStrategy
from lightning_fabric.strategies.model_parallel import ModelParallelStrategy
from torch import Tensor, distributed, nn
from torch.distributed import PrefixStore, TCPStore  # type: ignore[attr-defined]  # documented, but not marked as exported
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import fully_shard

from specdec_cli.errors import UsageError
from specdec_cli.processors import has_bfloat16_products
from specdec_cli.training.recipe import RunSettings


@dataclass(frozen=True)
class BatchShare:
    """The batches of an update that this process computes, by their keys, and the weight of each in the mean over all processes."""

    keys: tuple[Any, ...]
    weight: float


def shares(keys: Sequence[Any], accumulation: int, rank: int, processes: int) -> Iterator[BatchShare]:
    """Yield the share of process `rank` (from 0) of `processes` in each update, for the batches `keys` of an epoch from here on.

    An update has `accumulation * processes` batches, or what is left of the epoch, and every batch has the same weight in the mean of
    the gradients over the processes. A process without a batch computes the first one with the weight 0, because all processes
    exchange gradients in every update.
    """
    step = accumulation * processes
    for start in range(0, len(keys), step):
        chosen = keys[start : start + step]
        own = tuple(chosen[rank::processes])
        yield BatchShare(own, processes / len(chosen)) if own else BatchShare((chosen[0],), 0.0)


def sum_over_processes(fabric: Fabric, *values: float) -> list[float]:
    """The sums of numbers over all processes."""
    if fabric.world_size == 1:
        return list(values)
    total = fabric.all_reduce(torch.tensor(values, dtype=torch.float64, device=fabric.device), reduce_op="sum")
    return cast(Tensor, total).tolist()


def launch_fabric(run: RunSettings, device: str, devices: int, *, unused: bool = False) -> Fabric:
    """Launch Lightning Fabric with the run's precision and random seed: on `devices` devices of the kind `device` ("cpu", "cuda").

    In a process that torchrun has started, the number of devices and machines is torchrun's. With `unused`, some weights may have no
    gradient in some batches, such as that of the unknown token in a drafter's slot link. Raises UsageError for precision "16-mixed" with
    sharded weights on GPUs, since Fabric does not scale losses for these.
    """
    logging.getLogger("lightning_fabric").setLevel(logging.WARNING)  # no message about the precision
    local = int(os.environ.get("LOCAL_WORLD_SIZE", devices))
    nodes = int(os.environ.get("WORLD_SIZE", local)) // local if "LOCAL_WORLD_SIZE" in os.environ else 1
    strategy: Any = DDPStrategy(find_unused_parameters=unused) if local * nodes > 1 else "auto"
    if run.sharded and local * nodes > 1:
        strategy = ModelParallelStrategy(_shard, data_parallel_size=local * nodes, tensor_parallel_size=1)
    precision: Any = run.precision
    if precision == "auto" or (precision == "16-mixed" and device == "cpu"):
        precision = "bf16-mixed" if has_bfloat16_products(device) else "32-true"
    if precision == "16-mixed" and isinstance(strategy, ModelParallelStrategy):
        raise UsageError("run.sharded does not go with run.precision=16-mixed; give run.precision=bf16-mixed")
    fabric = Fabric(accelerator=device, devices=local, num_nodes=nodes, strategy=strategy, precision=precision)
    if nodes == 1 and os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True":
        _join_attempt(device)
    fabric.launch()
    fabric.seed_everything(run.seed, verbose=False)
    return fabric


def _shard(module: nn.Module, mesh: DeviceMesh) -> nn.Module:
    fully_shard(module, mesh=mesh["data_parallel"])
    return module


def _join_attempt(device: str) -> None:
    """Initialise the process group, as Fabric would, with keys of its own for each restart by torchrun.

    torchrun keeps its key-value store between restarts, and gloo would connect to the addresses of processes that have ended.
    """
    variables = os.environ
    store = TCPStore(variables["MASTER_ADDR"], int(variables["MASTER_PORT"]), int(variables["WORLD_SIZE"]), is_master=False)
    own = PrefixStore(f"attempt {variables.get('TORCHELASTIC_RESTART_COUNT', 0)}", store)
    backend = "nccl" if device == "cuda" else "gloo"
    if device == "cuda":
        torch.cuda.set_device(int(variables["LOCAL_RANK"]))
    distributed.init_process_group(backend, store=own, rank=int(variables["RANK"]), world_size=int(variables["WORLD_SIZE"]))
