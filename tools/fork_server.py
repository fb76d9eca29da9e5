"""Run `specdec` in forks of a process that has imported all modules, which saves the start-up time of each command.

`python -m tools.fork_server SOCKET FOLDER` listens on SOCKET and writes two programs into FOLDER: `specdec`, and `python`
for the processes that specdec starts. Each sends its arguments, working folder, environment and streams to the server.
"""

import importlib
import json
import os
import pkgutil
import runpy
import signal
import socket
import sys
import traceback
from pathlib import Path
from typing import Any, NoReturn

from specdec_cli.processors import keep_order_of_sums

_CLIENT = """\
#!{python} -IS
import json, os, socket, sys
if {is_python} and sys.argv[1:3] != ["-P", "-m"]:
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])
if sys.argv[1:2] == ["serve"]:  # a process of its own, so that signals reach it
    os.execv({python!r}, [{python!r}, "-m", "specdec_cli", *sys.argv[1:]])
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
module = sys.argv[3] if {is_python} else None
request = {{"module": module, "arguments": sys.argv[1:], "folder": os.getcwd(), "environment": {{**os.environ}}}}
socket.send_fds(server, [json.dumps(request).encode()], [0, 1, 2])
sys.exit((server.recv(1) or b"\\1")[0])
"""
_LONGEST_REQUEST = 1 << 17


def main(address: str, folder: Path) -> NoReturn:
    """Write the programs `specdec` and `python` into `folder`; then serve connections to the socket `address` until killed.

    Each connection is served by a forked process, which runs one command.
    """
    import specdec_cli

    for module in pkgutil.walk_packages(specdec_cli.__path__, "specdec_cli."):
        if module.name.rpartition(".")[2] not in ("__main__", "_engine"):
            try:
                importlib.import_module(module.name)
            except ModuleNotFoundError as error:  # of a package that only an extra installs
                if (error.name or "").startswith("specdec_cli"):
                    raise
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    for name in ("specdec", "python"):
        text = _CLIENT.format(python=sys.executable, is_python=name == "python", address=address)
        partial = folder / f"{name}.partial"
        partial.write_text(text, encoding="utf-8")
        partial.chmod(0o755)
        partial.rename(folder / name)  # readers wait for a file that exists
    sys.executable = str(folder / "python")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            _serve(connection)
        connection.close()


def _serve(connection: socket.socket) -> NoReturn:
    """Run the request of a client with the streams of the client, and send it the exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    message, streams, *_ = socket.recv_fds(connection, _LONGEST_REQUEST, 3)
    request = json.loads(message)
    for target, stream in enumerate(streams):
        os.dup2(stream, target)
        os.close(stream)
    # The server's stream objects were made for other files. The command replaces these, which must not close the files.
    sys.stdin, sys.stdout, sys.stderr = (open(number, mode, encoding="utf-8", closefd=False) for number, mode in enumerate("rww"))  # noqa: SIM115
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    keep_order_of_sums()
    code = 1
    try:
        _run(request)
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        connection.sendall(bytes([code]))
        os._exit(code)


def _run(request: dict[str, Any]) -> None:
    if request["module"] is not None:
        sys.argv = [request["module"]]
        runpy.run_module(request["module"], run_name="__main__", alter_sys=True)
        return
    from specdec_cli.app import main

    sys.argv = ["specdec", *request["arguments"]]
    main()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
