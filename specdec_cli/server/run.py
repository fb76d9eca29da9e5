"""The life of the server: start, signals, graceful stop."""

import logging
import signal
import socket
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from specdec_cli.server.listening import address_of
from specdec_cli.server.logs import LogHandler
from specdec_cli.server.service import Service

_KEEP_ALIVE = 30
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class _Server(uvicorn.Server):
    """A server that a first signal stops gracefully, and that then ends without raising the signal again."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        before = {number: signal.signal(number, self._stop) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _stop(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        self.force_exit = self.should_exit
        self.should_exit = True


def serve(service: Service, application: ASGIApp, sockets: Sequence[socket.socket], stop_seconds: float) -> None:
    """Answer requests on `sockets` until SIGINT or SIGTERM.

    Then no new request is accepted, and those in progress are finished for at most `stop_seconds`; a second signal
    ends them at once.
    """
    logging.getLogger("uvicorn").addHandler(LogHandler(service.log))
    config = uvicorn.Config(
        application,
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=max(1, round(stop_seconds)),
    )
    for decoder in service.decoders:
        decoder.start()
    service.log.write("listening", addresses=[address_of(own) for own in sockets])
    try:
        _Server(config).run(list(sockets))
    finally:
        for decoder in service.decoders:
            decoder.stop()
        service.log.write("stopped")
