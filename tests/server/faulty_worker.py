"""A worker process for tests: it translates to capital letters, and some words do to it what faults of a line can do."""

import ctypes
import os
import re
import signal
import time
from collections.abc import Callable, Sequence
from typing import Any

from starlette.types import ASGIApp

from specdec_cli.errors import UsageError
from specdec_cli.pipeline.translator import Translation
from specdec_cli.server import libretranslate, requests
from specdec_cli.server.application import make_application
from specdec_cli.server.guard import Limits
from specdec_cli.server.monitoring import Log
from specdec_cli.server.queue import BatchDecoder, Pool
from specdec_cli.server.service import Service
from tests.server.conftest import shout

_LONG = 600
_BACKTRACKS = re.compile(r"(?:a+)+b")


def hold_the_lock() -> None:
    """Sleep without giving the interpreter's lock to other threads."""
    ctypes.PyDLL(None).sleep(_LONG)


def backtrack() -> None:
    """Match a pattern that needs an exponential number of steps."""
    _BACKTRACKS.match("a" * 60)


def run_for_ever() -> None:
    """Let other threads run, but never end."""
    while True:
        time.sleep(0.001)


def kill() -> None:
    """End this process as the kernel does it where there is no more memory."""
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(_LONG)


FAULTS: dict[str, Callable[[], object]] = {
    "sleep": hold_the_lock,
    "backtrack": backtrack,
    "for ever": run_for_ever,
    "kill": kill,
    "crash": lambda: ctypes.string_at(0),
    "wait": lambda: time.sleep(0.5),
}


def do(text: str) -> str:
    """Do what the text says, after "do "; return it."""
    for word, fault in FAULTS.items():
        if f"do {word}" in text:
            fault()
    return text


def translate(lines: Sequence[str]) -> list[Translation]:
    """Translate to capital letters."""
    for line in lines:
        do(line)
    return shout(lines)


def load(limits: Limits, refusal: str = "") -> tuple[Service, ASGIApp, list[str]]:
    """Make the service; a text that begins with "In the loop" does its harm in the event loop, others in a thread that decodes."""
    if refusal:
        raise UsageError(refusal)
    original = requests.checked_text

    def checked(value: Any, name: str) -> str:
        return original(do(value) if str(value).startswith("In the loop") else value, name)

    libretranslate.__dict__["checked_text"] = checked
    pool = Pool(1, limits.seconds)
    service = Service(pool, {("en", "de"): BatchDecoder(translate, pool)}, {}, limits, log=Log(quiet=True))
    return service, *make_application(service)
