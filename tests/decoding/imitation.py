"""An imitation of CUDA graphs on a CPU: it records the operators of a computation, and repeats them on the same tensors.

What a graph could not do fails: reading a value of a tensor, shapes that depend on values, and tensors made of values of the CPU. What
real graphs leave undefined is overwritten.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter

from specdec_cli.decoding import graphs as graphs_module
from specdec_cli.decoding.graphs import Graphs
from specdec_cli.decoding.options import Constraints
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model import network as network_module
from specdec_cli.model.network import Network
from specdec_cli.model.transformer import Transformer

REFUSED = {"_local_scalar_dense", "is_nonzero", "item", "nonzero", "masked_select", "lift_fresh", "unique", "_unique2", "equal"}


class WaitError(Exception):
    """A computation that is captured reads a value of a tensor, or brings one from the CPU."""


def _tensors(values: Any) -> Iterator[Tensor]:
    return (value for value in tree_iter(values) if isinstance(value, Tensor))


def _storage(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


class Recorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Records the operators that run in its context; at its end the tensors from outside have the values from before."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        # Operators and their arguments, and the tensors that each of them returns, None for one that it was given.
        self.calls: list[tuple[Any, Any, Any, list[Tensor | None]]] = []
        self.own: list[Tensor] = []
        self._before: dict[int, tuple[Tensor, Tensor]] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = func.overloadpacket.__name__
        by_mask = name.startswith("index") and any(each.dtype is torch.bool for each in _tensors(args[1]))
        is_fill = name == "lift_fresh" and args[0].dim() == 0  # a number of Python; on a GPU it is an operator's argument
        if (name in REFUSED and not is_fill) or by_mask:
            raise WaitError(f"{name} waits for the device")
        given = {_storage(each) for each in _tensors((args, kwargs))}
        for argument, value in zip(func._schema.arguments, args, strict=False):
            if argument.alias_info is not None and argument.alias_info.is_write:
                self._save(value)
        for argument in func._schema.arguments:
            if argument.alias_info is not None and argument.alias_info.is_write and argument.name in kwargs:
                self._save(kwargs[argument.name])
        result = func(*args, **kwargs)
        made = [None if _storage(each) in given else each for each in _tensors(result)]
        self.calls.append((func, args, kwargs, made))
        self.own += [each for each in made if each is not None]
        return result

    def _save(self, values: Any) -> None:
        for value in _tensors(values):
            base = torch.empty(0, dtype=torch.uint8).set_(value.untyped_storage())
            self._before.setdefault(_storage(value), (base, base.clone()))

    def restore(self) -> None:
        """Give the tensors that were written to their values from before."""
        with _below_autograd():
            for tensor, value in self._before.values():
                tensor.copy_(value)

    def replay(self) -> None:
        """Repeat the operators."""
        with _below_autograd():
            for func, args, kwargs, made in self.calls:
                result = func(*args, **kwargs)
                for here, new in zip(made, [result] if isinstance(result, Tensor) else _tensors(result), strict=True):
                    if here is not None:
                        here.copy_(new)

    def spoil(self) -> None:
        """Overwrite the tensors that the operators made."""
        numbers = [tensor for tensor in self.own if tensor.is_floating_point()]
        with _below_autograd():
            if numbers:
                torch._foreach_mul_(numbers, torch.nan)
            for tensor in self.own:
                if not tensor.is_floating_point():
                    tensor.fill_(1)


def _below_autograd() -> Any:
    """Operators are repeated as they were recorded, those of a backward pass too: nothing is to be differentiated again."""
    return torch._C._AutoDispatchBelowAutograd()


@contextmanager
def _without_branches() -> Iterator[None]:
    """Let computations take the way that they take on a GPU."""
    with mock.patch.object(graphs_module, "can_branch", lambda _: False), mock.patch.object(network_module, "can_read", lambda _: False):
        yield


class Now:
    """An event that the device has reached."""

    def synchronize(self) -> None:
        """Return."""


@dataclass
class ImitatedCapture:
    """Imitates CUDA graphs on a CPU: records PyTorch's operators and repeats them.

    With `calls`, a replay calls the computation again instead, as Triton's interpreter needs: its kernels are no operators of PyTorch.
    """

    calls: bool = False
    graphs: list[Recorder] = field(default_factory=list)
    count: int = 0
    memory: int = 1 << 40

    def warm_up(self, compute: Callable[[], None]) -> None:
        """Run the computation."""
        with _without_branches():
            compute()

    def capture(self, compute: Callable[[], None]) -> Callable[[], None]:
        """Record the computation, without an effect."""
        self.count += 1
        if self.calls:
            return compute
        with _without_branches(), torch.random.fork_rng(devices=[]), (recorder := Recorder()):
            compute()
        recorder.restore()
        self.graphs.append(recorder)

        def replay() -> None:
            for graph in self.graphs:
                graph.spoil()
            recorder.replay()

        return replay

    def host(self, shape: Sequence[int], dtype: torch.dtype) -> Tensor:
        """A new tensor."""
        return torch.empty(shape, dtype=dtype)

    def send(self, values: Tensor, to: Tensor) -> None:
        """Copy the values."""
        to.copy_(values)

    def event(self) -> Now:
        """An event that has happened."""
        return Now()


@dataclass
class Imitation:
    """A verifier whose rounds are captured by `capture`."""

    verifier: Verifier
    graphs: Graphs
    capture: ImitatedCapture


def imitated(
    model: Transformer | Network, forced: int | None = None, constraints: Constraints | None = None, *, calls: bool = False
) -> Imitation:
    """A verifier of `model` with imitated graphs."""
    verifier, capture = Verifier(model, forced, constraints), ImitatedCapture(calls)
    verifier.graphs = graphs = Graphs(capture)
    verifier.few_widths = verifier.network.batch_invariant
    return Imitation(verifier, graphs, capture)
