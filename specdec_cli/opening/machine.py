"""The device, precision and number of threads with which a command computes."""

import os
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Annotated, Literal, Self

from specdec_cli.devices import DEFAULTS, found_device, free_memory, has_gpu
from specdec_cli.errors import UsageError, counted
from specdec_cli.fields import Between
from specdec_cli.processors import has_bfloat16_products, usable_processors

if TYPE_CHECKING:
    from specdec_cli.model.bundle import Bundle
    from specdec_cli.model.network import Network

Device = Literal["auto", "cpu", "cuda"]
Precision = Literal["auto", "float32", "bfloat16", "float16", "int8"]
EngineName = Literal["auto", "native", "reference"]
MOST_THREADS = 1024


@dataclass(frozen=True, kw_only=True)
class MachineOptions:
    """The options of the machine as they are given; "auto" and None stand for what the machine offers.

    - `batch_size`: the largest number of sentences that are decoded together.
    - `memory`: memory for batches, and for lines that are read but not yet written, in MiB.
    - `seed`: the seed of PyTorch's random numbers.
    - `offline`: the network is never used.
    """

    batch_size: Annotated[int, Between(1, inf)] | Literal["auto"] = "auto"
    memory: int | None = None
    device: Device = "auto"
    precision: Precision = "auto"
    engine: EngineName = "auto"
    threads: Annotated[int, Between(1, MOST_THREADS)] | None = None
    seed: int = 1
    offline: bool = False

    def resolve(self) -> "Machine":
        """The machine for the reference engine: see `resolve_machine`, which also sets torch's threads and seed, and raises UsageError."""
        return resolve_machine(self.device, self.precision, self.threads, self.seed)

    @property
    def rows(self) -> int:
        """The largest number of sentences in a batch: `batch_size`, or the device's default."""
        return DEFAULTS[self._device].sentences if self.batch_size == "auto" else self.batch_size

    @property
    def batch_memory(self) -> int:
        """Memory for batches in bytes: the value that was given, else half of the device's free memory; 0 (no limit) if that is unknown."""
        return free_memory(self._device) // 2 if self.memory is None else self.memory * 2**20

    @property
    def _device(self) -> str:
        return "cpu" if self.engine == "native" else found_device(self.device)


@dataclass(frozen=True)
class Machine:
    """Device, precision and number of threads, with every `auto` resolved, except that a GPU's precision depends on the model: it is
    "auto" until `with_model`. `native`: the native engine's kernels compute the verifier's passes, also where PyTorch runs the decoding.
    """

    device: str
    precision: str
    threads: int
    native: bool = False

    @property
    def in_words(self) -> str:
        """Device, precision and threads in words, such as `cpu, int8, 1 thread`."""
        return f"{self.device}, {self.precision}, {counted(self.threads, 'thread')}"

    def with_model(self, bundle: "Bundle") -> Self:
        """The machine with the precision that `move_to` chose for `bundle`, if it is not known yet."""
        weight = bundle.verifier.embedding.tokens.weight
        return replace(self, precision=str(weight.dtype).removeprefix("torch.")) if self.precision == "auto" else self


def resolve_machine(device: str, precision: str, threads: int | None, seed: int = 1) -> Machine:
    """Replace `auto` by a device and a precision of PyTorch, and set torch's number of threads and seed.

    On a CPU the precision is float32: PyTorch computes it faster than int8, whose arithmetic is that of the native engine. On a GPU it
    stays `auto`, since it depends on the model. Raises UsageError if there is no GPU for the device cuda, and for a precision that the
    device does not offer.
    """
    import torch

    if device == "cuda" and not torch.cuda.is_available():
        raise UsageError("--device cuda: no CUDA device is available")
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if precision == ("float16" if device == "cpu" else "int8"):
        offered = "float32, bfloat16 and int8" if device == "cpu" else "float32, bfloat16 and float16"
        raise UsageError(f"--precision {precision} is not offered on {device}; {offered} are")
    prepare_torch(threads, seed)
    return Machine(device, "float32" if precision == "auto" and device == "cpu" else precision, torch.get_num_threads())


def prepare_torch(threads: int | None, seed: int = 1) -> None:
    """Set torch's number of threads, unless it is None, and its seed; products of float32 matrices keep their precision."""
    import torch

    torch.manual_seed(seed)
    if threads is not None:
        torch.set_num_threads(threads)
    torch.backends.cuda.matmul.allow_tf32 = False


def computes_natively(device: str, precision: str) -> bool:
    """Whether `device` and `precision`, each possibly `auto`, allow the native engine, which computes in int8 on a CPU.

    The device `auto` allows it only on a machine without a GPU.
    """
    return precision in ("auto", "int8") and (device == "cpu" or (device == "auto" and not has_gpu()))


def native_machine(device: str, precision: str, threads: int | None) -> Machine:
    """The Machine of the native engine: the CPU in int8, with `threads` threads. Torch is not imported.

    None threads stand for OMP_NUM_THREADS, else for the number of usable processors. Raises UsageError for the device cuda, and for
    another precision than `auto` or int8.
    """
    if device == "cuda" or precision not in ("auto", "int8"):
        wanted = " ".join(filter(None, (f"on {device}" * (device == "cuda"), f"in {precision}" * (precision not in ("auto", "int8")))))
        raise UsageError(f"--engine native: it computes in int8 on a CPU, not {wanted}")
    return Machine("cpu", "int8", threads or _default_threads(), native=True)


def _default_threads() -> int:
    """OMP_NUM_THREADS, as for PyTorch, else the number of processors that this process may use."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    if asked.isdecimal() and int(asked) > 0:
        return min(int(asked), MOST_THREADS)
    return min(usable_processors(), MOST_THREADS)


def move_to(machine: Machine, bundle: "Bundle", *, same_drafts: bool = False) -> "Bundle":
    """Move the verifier and drafter of `bundle`, in place, to the machine's device and precision; return `bundle`.

    Their weights get no gradients. With `machine.native`, the native engine computes the verifier in int8, and PyTorch the drafter;
    otherwise int8 is PyTorch's and for both. On a CPU that multiplies bfloat16 fast, a drafter that is not in int8 computes in
    bfloat16: the verifier alone decides the output. With `same_drafts` it does not, and the drafts are those of other CPUs. The precision
    `auto` of a GPU is chosen for the bundle (see `fastest_exact`).
    """
    import torch

    if machine.precision == "auto":
        from specdec_cli.opening.gpu import fastest_exact

        machine = replace(machine, precision=fastest_exact(bundle, machine.device))
    dtype = {"bfloat16": torch.bfloat16, "float16": torch.float16}.get(machine.precision, torch.float32)
    for module in (bundle.verifier, bundle.drafter):
        if module is not None and not any(weight.is_meta for weight in module.parameters()):
            module.to(device=machine.device, dtype=dtype)
            for weight in module.parameters():
                weight.requires_grad_(False)
    if machine.native:
        bundle.network = _native_network(bundle, machine.threads)
    if machine.precision == "int8" and not machine.native:
        from specdec_cli.model.int8 import quantize

        quantize(bundle.verifier, bundle.drafter)
    elif bundle.drafter is not None and machine.device == "cpu" and not same_drafts and has_bfloat16_products("cpu"):
        bundle.drafter.lower_precision(torch.bfloat16)
    if machine.device == "cuda":
        from specdec_cli.opening.gpu import prepare_for_gpu

        prepare_for_gpu(bundle)
    return bundle


def _native_network(bundle: "Bundle", threads: int) -> "Network":
    """The network that computes the verifier of a bundle on disk with the kernels of the native engine."""
    from specdec_cli.native.model import NativeModel
    from specdec_cli.native.network import NativeNetwork

    assert bundle.path is not None
    model = NativeModel(bundle.shape, bundle.path.parent / "verifier" / "model.safetensors")
    return NativeNetwork(model, threads, bundle.verifier.length_head)
