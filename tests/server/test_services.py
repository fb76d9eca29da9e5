"""The server as a service: its messages to systemd, and the examples of a unit and a container."""

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from specdec_cli.server import run
from specdec_cli.server.documents import DocumentLimits
from specdec_cli.server.front import Front
from specdec_cli.server.guard import Gate, Limits
from specdec_cli.server.monitoring import Log, RequestMetrics
from specdec_cli.server.run import listen_tcp
from specdec_cli.server.worker_process import Start
from tests import command_line
from tests.server.conftest import Running
from tests.server.faulty_worker import load

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
UNIT, CONTAINER = EXAMPLES / "specdec.service", EXAMPLES / "Containerfile"


def settings() -> dict[str, str]:
    """The settings of the unit."""
    return dict(re.findall(r"^(\w+)=(.*)$", UNIT.read_text(encoding="utf-8"), re.MULTILINE))


def instruction(name: str) -> list[str]:
    """The words of the list at the end of an instruction of the container."""
    found = re.search(rf"^{name}[^\[]*?(\[.*\])$", CONTAINER.read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None
    words: list[str] = json.loads(found[1])
    return words


def test_systemd_is_told_that_the_server_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    received: list[bytes] = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as own, listen_tcp("127.0.0.1", 0) as listening:
        own.bind(str(tmp_path / "notify"))
        own.settimeout(60)

        def receive() -> None:
            while received[-1:] != [b"WATCHDOG=1"]:
                received.append(own.recv(100))
            os.kill(os.getpid(), signal.SIGTERM)

        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        monkeypatch.setenv("WATCHDOG_USEC", "20000")
        log, metrics = Log(), RequestMetrics()
        thread = threading.Thread(target=receive)
        with Front(Start(load, (Limits(),)), 30, log, metrics) as front:
            thread.start()
            run.serve(front, Gate(front, log, metrics, front.paths), [listening], 1, log)
        thread.join()
    assert sorted(set(received)) == [b"READY=1", b"WATCHDOG=1"]
    assert [json.loads(line)["event"] for line in capfd.readouterr().err.splitlines()] == ["listening", "stopped"]


def test_without_systemd_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"):
        monkeypatch.delenv(name, raising=False)
    assert run.watchdog_seconds() == 0
    monkeypatch.setenv("WATCHDOG_USEC", "3000000")
    assert run.watchdog_seconds() == 3
    monkeypatch.setenv("WATCHDOG_PID", "1")
    assert run.watchdog_seconds() == 0
    monkeypatch.setenv("NOTIFY_SOCKET", "@nobody listens here")
    run.notify("READY=1")


@pytest.mark.parametrize("path", [UNIT, CONTAINER], ids=lambda path: path.name)
def test_the_page_links_to_the_examples_which_say_how_to_use_them(path: Path) -> None:
    page = (EXAMPLES.parent / "server.md").read_text(encoding="utf-8")
    assert f"](examples/{path.name})" in page and "#   make wheel\n" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("command", [shlex.split(settings()["ExecStart"]), instruction("ENTRYPOINT")])
def test_the_examples_start_the_server_with_options_that_exist(command: list[str]) -> None:
    assert Path(command[0]).name == "specdec"
    result = command_line.run(*command[1:], "--help")
    assert result.exit_code == 0 and "--max-requests" in result.output


def test_the_limits_of_the_examples_fit_those_of_the_server() -> None:
    assert int(settings()["TimeoutStopSec"]) > Limits().seconds + 1
    assert int(settings()["MemoryMax"].removesuffix("G")) * 2**30 > 4 * DocumentLimits(0, Limits().characters, 0).memory
    text = CONTAINER.read_text(encoding="utf-8")
    assert f"--memory {settings()['MemoryMax'].lower()} --stop-timeout {settings()['TimeoutStopSec']} " in text


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_reads_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text(encoding="utf-8").replace("/opt/specdec/bin/specdec", sys.executable), encoding="utf-8")
    result = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


def test_the_health_check_of_the_container(server: Running) -> None:
    with listen_tcp("127.0.0.1", 0) as closed:
        port = closed.getsockname()[1]
    for own, code in ((server.port, 0), (port, 1)):
        program, *words = (word.replace("5000", str(own)) for word in instruction("HEALTHCHECK"))
        assert program == "python"
        assert subprocess.run([sys.executable, *words], capture_output=True, check=False).returncode == code
