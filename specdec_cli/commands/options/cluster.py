"""Command-line options of runs on a Ray cluster."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from specdec_cli.cluster.jobs import SHARD_LINES
from specdec_cli.cluster.run import RETRIES
from specdec_cli.cluster.session import LOCAL
from specdec_cli.commands.options.groups import OptionGroup
from specdec_cli.errors import UsageError

_cluster_option = partial(typer.Option, rich_help_panel="Cluster")
_ADDRESS = re.compile(r"auto|local|ray://.*|\S+:\d+")

RayOption = Annotated[
    str | None,
    _cluster_option(
        "--ray",
        metavar="[HOST:PORT]",
        help="Process the input in shards with workers of the Ray cluster whose head is at HOST:PORT; with auto, of one that runs on "
        "this machine; without an address, of one that is started here. A worker with a model has --threads threads (1 unless given), "
        "or a GPU. Repeat a stopped run to resume it.",
        show_default=False,
    ),
]
WorkersOption = Annotated[
    int | None,
    _cluster_option("--workers", metavar="N", min=1, help="With --ray: number of workers.", show_default="all processors, or GPUs"),
]
RetriesOption = Annotated[
    int, _cluster_option("--retries", metavar="N", min=1, help="With --ray: tries of a shard, and of a line that fails alone.")
]
ShardLinesOption = Annotated[
    int,
    _cluster_option("--shard-lines", metavar="N", min=1, help="With --ray: lines in a shard; a stopped run loses those under way."),
]


@dataclass(frozen=True, kw_only=True)
class ClusterOptions(OptionGroup):
    """The options of runs on a cluster, of all commands that have --ray."""

    ray: RayOption = None
    workers: WorkersOption = None
    retries: RetriesOption = RETRIES

    def __post_init__(self) -> None:
        """Raise UsageError for a setting of runs on a cluster without --ray."""
        for each in fields(self):
            if self.ray is None and getattr(self, each.name) != each.default:
                raise UsageError(f"--{each.name.replace('_', '-')} is for runs with --ray")

    @property
    def address(self) -> str:
        """The address of the cluster, or LOCAL. Raises UsageError for one that Ray's clients connect to."""
        address = self.ray or LOCAL
        if address.startswith("ray://"):
            raise UsageError(f"--ray {address}: run the command on a machine of the cluster, and give HOST:PORT or auto")
        return address


@dataclass(frozen=True, kw_only=True)
class ShardOptions(ClusterOptions):
    """The options of runs on a cluster, of the commands that have no shards without it."""

    shard_lines: ShardLinesOption = SHARD_LINES


def with_ray_address(arguments: Sequence[str]) -> list[str]:
    """Command-line arguments in which --ray has a value: LOCAL if no address (auto, or HOST:PORT) follows it."""
    completed = list(arguments)
    for index, argument in enumerate(arguments):
        if argument == "--":
            break
        following = arguments[index + 1] if index + 1 < len(arguments) else ""
        if argument == "--ray" and (not _ADDRESS.fullmatch(following) or Path(following).exists()):
            completed[index] = f"--ray={LOCAL}"
    return completed
