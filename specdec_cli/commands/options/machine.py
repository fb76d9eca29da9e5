"""Command-line options of the machine: batch size, memory, device, precision, engine, threads."""

from inspect import Parameter
from typing import Annotated, Any, Self

from specdec_cli.commands.options.groups import OptionGroup
from specdec_cli.commands.options.values import checks_number_or, machine_option, number_or_auto
from specdec_cli.opening.machine import MOST_THREADS, Device, EngineName, MachineOptions, Precision

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
        help="What computes: native (int8 on a CPU; without PyTorch for greedy, specdec, specdec++, lookup, ngram-memory, input-guided, "
        "beam) or reference (PyTorch). auto is native where model and machine allow it.",
    ),
]
ThreadsOption = Annotated[
    int | None, machine_option("--threads", metavar="N", min=1, max=MOST_THREADS, help="Threads to compute with.", show_default="all cores")
]
SeedOption = Annotated[int, machine_option("--seed", metavar="N", min=0, max=2**32 - 1, help="Seed of all random numbers.")]
OfflineOption = Annotated[bool, machine_option("--offline", help="Never use the network.")]


_FLAGS = {
    "batch_size": BatchSizeOption,
    "memory": MemoryOption,
    "device": DeviceOption,
    "precision": PrecisionOption,
    "engine": EngineOption,
    "threads": ThreadsOption,
    "seed": SeedOption,
    "offline": OfflineOption,
}
"""The option of each field of MachineOptions, in the order of the help."""


class MachineFlags(MachineOptions, OptionGroup):
    """The options of the machine, of the commands that decode text."""

    @classmethod
    def parameters(cls) -> list[Parameter]:
        defaults = cls()
        return [
            Parameter(name, Parameter.KEYWORD_ONLY, default=getattr(defaults, name), annotation=option) for name, option in _FLAGS.items()
        ]

    @classmethod
    def build(cls, values: dict[str, Any]) -> Self:
        read = {name: values.pop(name) for name in _FLAGS}
        return cls(**(read | {"batch_size": number_or_auto(read["batch_size"])}))
