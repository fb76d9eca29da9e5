"""The work of `specdec serve` in the process that clients reach: its sockets, its limits, and the start of the process with the models."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.types import ASGIApp

from specdec_cli.errors import UsageError
from specdec_cli.server.front import Front
from specdec_cli.server.guard import Gate, Keys, Limits, is_loopback, read_keys, read_origin
from specdec_cli.server.monitoring import Log, RequestMetrics
from specdec_cli.server.run import listen_tcp, serve, unix_socket
from specdec_cli.server.worker_process import Start
from specdec_cli.work.serve_options import Addresses, Served

if TYPE_CHECKING:
    from specdec_cli.server.service import Service


def serve_models(
    served: Served, addresses: Addresses, keys: Path | None, allowed: Sequence[str], limits: tuple[int, int, float], *, quiet: bool
) -> None:
    """Serve until a signal arrives, for clients that have one of the `keys` and pages of the origins `allowed`.

    `limits` are those of requests in progress, of characters and of seconds. Raises UsageError for an address that other machines may reach
    without keys.
    """
    if addresses.uses_tcp and not is_loopback(addresses.host) and keys is None:
        raise UsageError(f"--host {addresses.host}: other machines may reach this address; give --keys FILE with the keys of the clients")
    origins = [read_origin(each) for each in allowed]
    known = Keys() if keys is None else read_keys(keys)
    log, metrics, bounds = Log(quiet=quiet), RequestMetrics(), Limits(*limits)
    if served.instruction is not None and len(served.names) > 1:
        raise UsageError("--instruction is for one model; convert --instruction stores it in a bundle")
    start = Start(load, (served, bounds, known, origins, log))
    with ExitStack() as opened:
        sockets = [opened.enter_context(listen_tcp(addresses.host, addresses.port))] if addresses.uses_tcp else []
        if addresses.unix is not None:
            sockets.append(opened.enter_context(unix_socket(addresses.unix)))
        front = opened.enter_context(Front(start, bounds.seconds, log, metrics))
        gate = Gate(front, log, metrics, front.paths, origins, checks_host=not known.are_required)
        serve(front, gate, sockets, bounds.seconds, log)


def load(served: Served, limits: Limits, keys: Keys, origins: Sequence[str], log: Log) -> "tuple[Service, ASGIApp, list[str]]":
    """Load the models in the worker process. Returns the service, its application, and the paths of the routes."""
    from specdec_cli.work.served_models import load_models  # the process that clients reach does not need it

    return load_models(served, limits, keys, origins, log)
