"""A connection to a Ray cluster, which may be a local one that is started and stopped; what Ray prints is kept off the terminal."""

import os
import re
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, chdir, contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any, TextIO

from specdec_cli.errors import MissingLibraryError, ModelError, UsageError
from specdec_cli.files import is_process

LOCAL = "local"
"""The address that stands for a cluster on this machine, started for the run."""
_OBJECT_STORE = 200 * 2**20
"""The memory, in bytes, that a local cluster has for shards on their way."""
_ENVIRONMENT = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
"""No telemetry, and no warning about the environment variables of GPUs. Ray reads them when it is imported."""
_LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""Makes all processes of a local cluster listen on the loopback address only. Ray reads it when it is imported."""
_PREFIX = "specdec-ray-"
# Ray creates Unix sockets in subfolders with names of 60 characters; their paths have at most 107.
_LONGEST_FOLDER = 40
_SECONDS_TO_CONNECT = 5.0
_SECONDS_BETWEEN_QUESTIONS = 10.0


def require_ray(address: str) -> None:
    """Import Ray for a run on the cluster at `address`. Raises UsageError if it is not installed."""
    os.environ.update(_ENVIRONMENT | (_LOOPBACK if address == LOCAL else {}))
    try:
        import ray  # noqa: F401
    except ImportError as error:
        raise MissingLibraryError("runs on a cluster need Ray", "cluster") from error


class Session:
    """A connection to the cluster at `address`; if that is LOCAL, a cluster of `cpus` cores on this machine, with files in `folder`."""

    def __init__(self, address: str, cpus: int, folder: Path) -> None:
        self.address, self.cpus, self._folder = address, cpus, folder
        self._asked = time.monotonic()

    def start(self) -> None:
        """Start the local cluster, or connect to the other one. Raises UsageError if none answers."""
        import ray

        handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "CRITICAL"}
        try:
            if self.address != LOCAL:
                _check_answers(self.address)
            # Workers look for modules in the current folder first, as it is here: a copy of the package there would take the place of the
            # installed one.
            with chdir(self._folder):
                if self.address == LOCAL:
                    ray.init(
                        LOCAL,
                        num_cpus=self.cpus,
                        include_dashboard=False,
                        object_store_memory=_OBJECT_STORE,
                        _node_ip_address="127.0.0.1",
                        _temp_dir=str(self._folder),
                        **quiet,
                    )
                else:
                    ray.init(self.address, **quiet)
        except ConnectionError as error:
            missing = "this machine is in no cluster" if self.address == "auto" else "nothing answers at this address"
            raise UsageError(f"{self._name}: {missing}") from error
        except Exception as error:  # Ray raises Exception itself where one of its own processes has died
            cause = next(iter(str(error).strip().splitlines()), repr(error))
            raise UsageError(f"{self._name}: {cause}") from error
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)

    def stop(self) -> None:
        """End the connection, and the local cluster."""
        import ray

        ray.shutdown()

    @property
    def _name(self) -> str:
        return {LOCAL: "the local Ray cluster", "auto": "Ray"}.get(self.address, f"the Ray cluster at {self.address}")

    def lost(self) -> bool:
        """Whether the cluster has ended, or the node of this process; a local cluster can then be started again."""
        from ray._private.worker import _global_node

        if self.address == LOCAL:
            # Asking the cluster would block: its own processes are looked at instead.
            return _global_node is None or any(kind in ("raylet", "gcs_server") for kind, _ in _global_node.dead_processes())
        if time.monotonic() - self._asked < _SECONDS_BETWEEN_QUESTIONS:
            return False
        self._asked = time.monotonic()
        return not self._nodes()

    def restart(self) -> None:
        """Start the local cluster anew. Raises ModelError for another one: this process cannot go on without its node."""
        if self.address != LOCAL:
            raise ModelError(f"{self._name} has no node any more; the same command resumes the run")
        self.stop()
        self.start()

    def resources(self) -> dict[str, float]:
        """The numbers of processors ("CPU") and GPUs ("GPU") of the cluster."""
        import ray

        resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
        return resources

    def _nodes(self) -> list[dict[str, Any]]:
        import ray

        nodes: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
        return [node for node in nodes if node["Alive"]]


@contextmanager
def ray_session(address: str, cpus: int) -> Iterator[tuple[Session, TextIO]]:
    """Connect to a cluster inside the `with` block; the value is the session and the stream for messages to the user.

    In the block, stdout and stderr go to a file of the session, with all that Ray prints, and only this stream leads to the
    terminal. Raises UsageError if Ray is not installed, or no cluster answers at `address`.
    """
    require_ray(address)
    _remove_left_behind()
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=_base()))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        terminal = stack.enter_context(_output_to(folder / "ray.log"))
        session = Session(address, cpus, folder)
        stack.callback(session.stop)
        session.start()
        yield session, terminal


def _base() -> Path:
    """The folder for temporary files, if its path is short enough for Ray."""
    usual = Path(tempfile.gettempdir())
    return usual if len(str(usual)) + len(_PREFIX) < _LONGEST_FOLDER - 16 else Path("/tmp")


def _remove_left_behind() -> None:
    """Remove the folders of sessions whose process was killed."""
    for folder in _base().glob(f"{_PREFIX}*-*"):
        number = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if number.isdecimal() and not is_process(int(number)):
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _output_to(log: Path) -> Iterator[TextIO]:
    """Write stdout and stderr to `log` inside the `with` block, output of C++ code too; the value is the stderr of before."""
    with ExitStack() as stack:
        stream = stack.enter_context(log.open("w", encoding="utf-8"))
        terminal = sys.stderr
        with suppress(OSError, AttributeError):  # in tests stderr is not a file
            if sys.stderr.fileno() == 2:
                terminal = stack.enter_context(os.fdopen(os.dup(2), "w", encoding="utf-8", errors="backslashreplace", buffering=1))
        for number in (1, 2):
            kept = os.dup(number)
            stack.callback(os.close, kept)
            stack.callback(os.dup2, kept, number)
            os.dup2(stream.fileno(), number)
        stack.enter_context(redirect_stdout(stream))
        stack.enter_context(redirect_stderr(stream))
        yield terminal


def _check_answers(address: str) -> None:
    """Raise ConnectionError if no process listens at `address` (HOST:PORT), for which Ray would wait for a minute."""
    matched = re.fullmatch(r"\[?(?P<host>.+?)\]?:(?P<port>\d+)", address)
    if matched is None:
        return
    try:
        socket.create_connection((matched["host"], int(matched["port"])), _SECONDS_TO_CONNECT).close()
    except (OSError, OverflowError) as error:
        raise ConnectionError from error
