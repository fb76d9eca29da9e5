"""A headless Chromium without a network, driven by its DevTools protocol through pipes."""

import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

CHROMIUM = shutil.which("chromium")
_FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")
_PATIENCE = 60.0


class Browser:
    """A browser inside a `with` block, with one page of `width` pixels; `problems` are exceptions and errors of the page."""

    def __init__(self, folder: Path, width: int) -> None:
        self._folder, self._width = folder, width
        self._number = 0
        self._session: str | None = None
        self.problems: list[Any] = []

    def __enter__(self) -> Self:
        read_here, write_there = os.pipe()
        read_there, write_here = os.pipe()
        # Chromium reads commands from descriptor 3 and writes answers to 4.
        script = f'exec "$@" 3<&{read_there} 4>&{write_there}'
        command = ["bash", "-c", script, "bash", str(CHROMIUM), *_FLAGS, "--remote-debugging-pipe", f"--user-data-dir={self._folder}"]
        self._process = subprocess.Popen(command, pass_fds=(read_there, write_there), stderr=subprocess.DEVNULL)
        os.close(read_there)
        os.close(write_there)
        self._in, self._out = os.fdopen(read_here, "rb", 0), os.fdopen(write_here, "wb", 0)
        self._buffer = b""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Log", "Runtime"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=self._width, height=900, deviceScaleFactor=1, mobile=False)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._process.terminate()
        self._process.wait(_PATIENCE)
        self._in.close()
        self._out.close()

    def call(self, method: str, **parameters: Any) -> Any:
        """Call a method of the protocol and return its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters} | ({"sessionId": self._session} if self._session else {})
        self._out.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]
            if answer.get("method") == "Runtime.exceptionThrown" or answer.get("params", {}).get("entry", {}).get("level") == "error":
                self.problems.append(answer["params"])

    def value(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def wait_for(self, expression: str) -> None:
        """Wait until a JavaScript expression is true."""
        started = time.monotonic()
        while not self.value(expression):
            assert time.monotonic() - started < _PATIENCE, expression
            time.sleep(0.05)

    def _receive(self) -> Any:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], _PATIENCE)
            part = self._in.read(65536) if ready else b""
            assert part, "the browser does not answer"
            self._buffer += part
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)
