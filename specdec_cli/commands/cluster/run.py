"""A run of a command on a Ray cluster."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from specdec_cli.cluster.jobs import Job, Shard
from specdec_cli.cluster.pool import Pool, WorkerShape
from specdec_cli.cluster.run import Progress, Run, Store
from specdec_cli.cluster.session import LOCAL, Session, ray_session
from specdec_cli.commands.cluster.options import ClusterOptions
from specdec_cli.commands.cluster.view import ClusterView
from specdec_cli.errors import UsageError
from specdec_cli.opening.machine import Device
from specdec_cli.processors import usable_processors


@dataclass(frozen=True)
class Share:
    """What a worker computes with: a device ("cpu" or "cuda"), a number of threads, and its share of a machine's memory (0 to 1)."""

    device: Device
    threads: int
    memory: float


def run_on_cluster(
    options: ClusterOptions,
    make_job: Callable[[Share], Job],
    shards: Iterator[Shard],
    store: Store,
    *,
    device: str = "cpu",
    threads: int | None = None,
    total: int | None = None,
    quiet: bool = False,
) -> Progress:
    """Process shards on the cluster of `options`, and store each; return the counts.

    A worker has `threads` threads (None: 1) or, if `device` is "cuda" or "auto" and the cluster has any, a GPU. `total` is the size
    of the input in bytes, if it is known. Raises UsageError for a cluster that cannot be used, and ModelError for a model that cannot
    be loaded.
    """
    cores = usable_processors()
    cpus = max(cores, (options.workers or 1) * (threads or 1)) if options.address == LOCAL else 0
    with ray_session(options.address, cpus) as (session, terminal):
        shape = _shape(session, options, device, threads)
        share = Share("cuda" if shape.gpus else "cpu", shape.cpus, 1 / max(1, min(shape.count, cores // shape.cpus)))
        with ClusterView(terminal, shape.count, quiet=quiet) as view:
            run = Run(session, Pool(make_job(share), shape), store, options.retries, view)
            run.progress.total = total
            run.process(shards)
            return run.progress


def _shape(session: Session, options: ClusterOptions, device: str, threads: int | None) -> WorkerShape:
    """The number of workers and the resources of each."""
    resources = session.resources()
    gpus = int(resources.get("GPU", 0)) if device != "cpu" else 0
    if device == "cuda" and not gpus:
        raise UsageError("--device cuda: the cluster has no GPU")
    most = gpus or int(resources.get("CPU", 0)) // (threads or 1)
    if not (options.workers or most):
        raise UsageError(f"--threads {threads}: the cluster has {int(resources.get('CPU', 0))} processors")
    return WorkerShape(options.workers or most, threads or 1, 1 if gpus else 0)
