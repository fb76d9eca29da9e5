"""Command-line options of the machine: batch size, memory, device, precision, engine, threads."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from specdec_cli.commands.options.groups import OptionGroup
from specdec_cli.commands.options.values import checks_number_or, machine_option, number_or_auto
from specdec_cli.opening.machine import MOST_THREADS, Machine, resolve_machine

LARGEST_BATCH = 64
"""The largest number of sentences in a batch if the batch size is `auto`."""
Device = Literal["auto", "cpu", "cuda"]
Precision = Literal["auto", "float32", "bfloat16", "float16", "int8"]
EngineName = Literal["auto", "native", "reference"]

BatchSizeOption = Annotated[
    str,
    machine_option(
        "--batch-size", metavar="N|auto", callback=checks_number_or("auto"), help="Largest number of sentences decoded together."
    ),
]
MemoryOption = Annotated[
    int | None,
    machine_option(
        "--memory",
        metavar="MB",
        min=1,
        help="Memory for batches and for lines that are read but not yet written, besides the model.",
        show_default="half of what is free",
    ),
]
DeviceOption = Annotated[Device, machine_option("--device", help="Device to compute on.")]
PrecisionOption = Annotated[
    Precision,
    machine_option(
        "--precision",
        help="Number format of the arithmetic; auto takes the fastest in which the output is still greedy's at that precision.",
    ),
]
EngineOption = Annotated[
    EngineName,
    machine_option(
        "--engine",
        help="What computes: native (int8 on a CPU, without PyTorch: greedy, specdec, specdec++, lookup, ngram-memory, input-guided, "
        "beam) or reference (PyTorch, every decoding). auto is native for all that it supports.",
    ),
]
ThreadsOption = Annotated[
    int | None, machine_option("--threads", metavar="N", min=1, max=MOST_THREADS, help="Threads to compute with.", show_default="all cores")
]
SeedOption = Annotated[int, machine_option("--seed", metavar="N", min=0, max=2**32 - 1, help="Seed of all random numbers.")]
OfflineOption = Annotated[bool, machine_option("--offline", help="Never use the network.")]


@dataclass(frozen=True, kw_only=True)
class MachineOptions(OptionGroup):
    """The options of the machine, of the commands that decode text."""

    batch_size: BatchSizeOption = "auto"
    memory: MemoryOption = None
    device: DeviceOption = "auto"
    precision: PrecisionOption = "auto"
    engine: EngineOption = "auto"
    threads: ThreadsOption = None
    seed: SeedOption = 1
    offline: OfflineOption = False

    def resolve(self) -> Machine:
        """The machine for the reference engine: see `resolve_machine`, which also sets torch's threads and seed, and raises UsageError."""
        return resolve_machine(self.device, self.precision, self.threads, self.seed)

    @property
    def rows(self) -> int:
        """The largest number of sentences in a batch."""
        return batch_rows(self.batch_size)

    @property
    def batch_memory(self) -> int:
        """Memory for batches in bytes: the value that was given, else half of the free memory; 0 (no limit) if that is unknown."""
        if self.memory is not None:
            return self.memory * 2**20
        described = Path("/proc/meminfo")
        lines = described.read_text().splitlines() if described.exists() else []
        free = next((line.split()[1] for line in lines if line.startswith("MemAvailable:")), "0")
        return int(free) * 2**10 // 2


def batch_rows(batch_size: str) -> int:
    """The number of sentences in a batch for the value of --batch-size: a number, or LARGEST_BATCH for `auto`."""
    size = number_or_auto(batch_size)
    return size if isinstance(size, int) else LARGEST_BATCH
