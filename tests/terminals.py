"""Commands in a terminal: what they write to it, with its control sequences."""

import os
import pty
import subprocess
import sys
from collections.abc import Sequence


def in_terminal(arguments: Sequence[str], *, typed: str = "", **environment: str) -> str:
    """What specdec with `arguments` writes to a terminal of 100 columns, in which `typed` and then Ctrl-D are typed."""
    terminal, side = pty.openpty()
    known = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "TERM")}
    environment = known | {"COLUMNS": "100", "LINES": "40", "TERM": "xterm-256color"} | environment
    command = [sys.executable, "-m", "specdec_cli", *arguments]
    with subprocess.Popen(command, stdin=side, stdout=side, stderr=side, env=environment, start_new_session=True) as process:
        os.close(side)
        os.write(terminal, f"{typed}\x04".encode())
        written = bytearray()
        try:
            while chunk := os.read(terminal, 2**16):
                written += chunk
        except OSError:  # Linux reports the end so
            pass
        process.wait(60)
    os.close(terminal)
    return written.decode().replace("\r\n", "\n")
