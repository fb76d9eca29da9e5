"""`python -m tools.soak`: random clients use a server for some minutes; wrong answers, leaks and processes that stay are problems.

Clients translate, correct, send documents and use the page; some leave in the middle of a request, others send garbage. Every answer to
a valid request is compared with the first one for the same text. All requests go to a Unix socket of this machine.
"""

import argparse
import os
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from specdec_cli.benchmark.inputs import read_sample

CLIENTS = 12
WARM = 30
"""The server is warm when each action has been answered so many times: then all models are loaded."""
MOST_GROWTH = 1.1
"""The resident memory at the end may be this many times that of the warm server."""
MOST_MORE = 12
"""The server may have this many more open files and threads."""
ANSWERED = ("translate", "check", "list", "document", "fetched document", "show")
"""The actions that are answered."""
BUSY = (429, 503)
"""Statuses of a server that has too much to do; all others from 500 on are problems, also in answers to broken requests."""
_PATIENCE = 60.0
_FORM = "application/x-www-form-urlencoded"
_GARBAGE = (
    b"\0" * 100,
    b"GET\r\n\r\n",
    b"POST /translate HTTP/1.1\r\nhost: x\r\ncontent-length: 50\r\n\r\nq=",
    b"\xff" * 70_000,
    b"PRI * HTTP/2.0\r\n\r\n",
)
_BROKEN = (b"{", b"q=%zz%ff", b'{"q": 1, "source": "en", "target": "de"}', b"data=[]", b"\xff\xfe", b"[" * 50_000, b"x" * 900_000)
_PAIR = {"source": "en", "target": "de"}
_PATHS = ("/translate", "/v2/check", "/detect", "/show", "/translate_file")


@dataclass(frozen=True)
class State:
    """The resident memory of the server in MB, and its open files and threads."""

    megabytes: float
    files: int
    threads: int


@dataclass
class Report:
    """How often each action had which status, what should not have happened, and the state of the warm server and at the end."""

    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    warm: State | None = None
    last: State | None = None

    @property
    def is_warm(self) -> bool:
        """Whether each action has been answered often enough."""
        return all(self.counts[f"{name} 200"] >= WARM for name in ANSWERED)

    def check_growth(self) -> None:
        """Add a problem if the server has not become warm, or if its memory, open files or threads have grown too much since."""
        if self.warm is None or self.last is None:
            self.problems.append(f"some action has been answered less than {WARM} times")
            return
        more = max(self.last.files - self.warm.files, self.last.threads - self.warm.threads)
        if more > MOST_MORE or self.last.megabytes > MOST_GROWTH * self.warm.megabytes:
            self.problems.append(f"the server has grown from {self.warm} to {self.last}")


def _connected(path: Path) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(_PATIENCE)
    connection.connect(str(path))
    return connection


class Client:
    """A client of the server on the Unix socket `path`, whose actions are drawn with the seed `number`; it writes into `report`.

    `known` has the first answers by action and text, for all clients.
    """

    def __init__(self, path: Path, texts: Sequence[str], number: int, report: Report, known: dict[tuple[str, str], bytes]) -> None:
        self._path, self._texts, self._report, self._known = path, texts, report, known
        self._random = random.Random(number)
        self._http = httpx.Client(transport=httpx.HTTPTransport(uds=str(path)), base_url="http://localhost", timeout=_PATIENCE)

    def run(self, stop: threading.Event) -> None:
        """Do one action after another until `stop` is set."""
        common: list[Callable[[], None]] = [self._translate, self._translate, self._check, self._list, self._document, self._show]
        while not stop.is_set():
            action = self._random.choice([*common, self._leave, self._garbage, self._broken])
            try:
                action()
            except (OSError, httpx.HTTPError) as error:
                self._report.problems.append(f"{action.__name__}: {error!r}")
            time.sleep(self._random.expovariate(10))
        self._http.close()

    def _ask(self, name: str, path: str, *, valid: bool = True, **request: Any) -> httpx.Response | None:
        """The answer 200 to a POST request, or to a GET request for nothing to send; None if there was another answer, which is a problem
        unless the server is busy, or refuses a request that is not `valid`. `request` are arguments of httpx.
        """
        method = "POST" if request else "GET"
        try:
            response = self._http.request(method, path, **request)
        except (httpx.NetworkError, httpx.RemoteProtocolError):  # a server may close a connection that was kept after an error
            self._report.counts["closed"] += 1
            response = self._http.request(method, path, **request)
        status = response.status_code
        self._report.counts[f"{name} {status}"] += 1
        if status not in (200, *BUSY) and (valid or status >= 500):
            self._report.problems.append(f"{name}: status {status}: {response.content!r}")
        return response if status == 200 else None

    def _compare(self, name: str, text: str, answer: httpx.Response | None) -> None:
        if answer is not None and self._known.setdefault((name, text), answer.content) != answer.content:
            self._report.problems.append(f"{name}: another answer to {text!r}: {answer.content!r}")

    def _translate(self) -> None:
        text = self._random.choice(self._texts)
        self._compare("translate", text, self._ask("translate", "/translate", data={"q": text, **_PAIR}))

    def _check(self) -> None:
        text = "\n\n".join(self._random.sample(self._texts, 2))
        self._compare("check", text, self._ask("check", "/v2/check", data={"text": text, "language": "en-US"}))

    def _list(self) -> None:
        texts = self._random.sample(self._texts, self._random.randint(1, 20))
        body = {"q": texts, "source": "auto", "target": "de", "format": self._random.choice(["text", "html"])}
        answer = self._ask("list", "/translate", json=body)
        if answer is not None and len(answer.json()["translatedText"]) != len(texts):
            self._report.problems.append(f"list: {len(texts)} texts, {answer.content!r}")

    def _document(self) -> None:
        text = "\n".join(f"- {text}" for text in self._random.sample(self._texts, 2))
        answer = self._ask("document", "/translate_file", data=_PAIR, files={"file": ("a.md", text.encode())})
        if answer is not None:
            address = urlsplit(answer.json()["translatedFileUrl"]).path
            self._compare("fetched document", text, self._ask("fetched document", address))

    def _show(self) -> None:
        answer = self._ask("show", "/show", data={"text": self._random.choice(self._texts), "task": "translate", **_PAIR})
        if answer is not None and b"event: result" not in answer.content:
            self._report.problems.append(f"show: {answer.content!r}")

    def _leave(self) -> None:
        text = " ".join(self._random.choices(self._texts, k=self._random.randint(1, 40)))
        body = str(httpx.QueryParams({"q": text, "text": text[:1500], **_PAIR, "language": "en", "task": "translate"}))
        path = self._random.choice(_PATHS)
        head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: {_FORM}\r\ncontent-length: {len(body)}\r\n\r\n"
        with _connected(self._path) as connection, suppress(OSError):
            connection.sendall((head + body).encode())
            time.sleep(self._random.choice([0, 0.002, 0.02, 0.1]))
        self._report.counts["leave"] += 1

    def _garbage(self) -> None:
        with _connected(self._path) as connection, suppress(OSError):
            connection.settimeout(self._random.choice([0.01, 0.1]))
            connection.sendall(self._random.choice(_GARBAGE))
            connection.recv(100)
        self._report.counts["garbage"] += 1

    def _broken(self) -> None:
        with suppress(httpx.NetworkError, httpx.RemoteProtocolError):  # the server may refuse a body before it has read all of it
            body, kind = self._random.choice(_BROKEN), {"Content-Type": _FORM}
            self._ask("broken", self._random.choice(_PATHS), valid=False, content=body, headers=kind)


@contextmanager
def _serving(path: Path, report: Report) -> Iterator[int]:
    """Run `specdec serve` on the Unix socket `path` inside the block, and yield its process id.

    What is wrong at its end is a problem: an exit code, or processes that are left.
    """
    command = [sys.executable, "-m", "specdec_cli", "serve", "--unix", str(path), "--quiet"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, env=os.environ | {"SPECDEC_SOAK": str(path)})
    started = time.monotonic()
    try:
        while not path.exists():
            if process.poll() is not None or time.monotonic() - started > _PATIENCE:
                raise RuntimeError("the server did not start")
            time.sleep(0.1)
        yield process.pid
    finally:
        process.terminate()
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            report.problems.append("the server did not stop")
            process.kill()
            process.wait()
    if process.returncode:
        report.problems.append(f"the exit code of the server is {process.returncode}")
    report.problems += [f"process {left} is left" for left in _started_with(f"SPECDEC_SOAK={path}")]


def _started_with(variable: str) -> Iterator[str]:
    """The ids of the processes that were started with this variable in their environment."""
    for file in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # it has ended, or is another user's
            if variable.encode() in file.read_bytes().split(b"\0"):
                yield file.parent.name


def _state(pid: int) -> State:
    """The state of the process that has the connections and of its worker process together."""
    folders = [Path("/proc", number) for number in (str(pid), *Path("/proc", str(pid), "task", str(pid), "children").read_text().split())]
    values = [dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines()) for folder in folders]
    megabytes = sum(int(each["VmRSS"].split()[0]) for each in values) / 1024
    return State(megabytes, sum(len(list((folder / "fd").iterdir())) for folder in folders), sum(int(each["Threads"]) for each in values))


def soak(seconds: float, clients: int = CLIENTS) -> Report:
    """Let `clients` clients use a server of all shipped models until it is warm, and then for some seconds."""
    report, texts, known, stop = Report(), read_sample().sources, dict[tuple[str, str], bytes](), threading.Event()
    with tempfile.TemporaryDirectory(prefix="specdec-") as name:
        path = Path(name) / "socket"
        with _serving(path, report) as pid:
            threads = [threading.Thread(target=Client(path, texts, number, report, known).run, args=(stop,)) for number in range(clients)]
            for thread in threads:
                thread.start()
            until = time.monotonic() + 5 * _PATIENCE
            while time.monotonic() < until:
                time.sleep(0.2)
                if report.warm is None and report.is_warm:
                    report.warm, until = _state(pid), time.monotonic() + seconds
            stop.set()
            for thread in threads:
                thread.join()
            time.sleep(2.0)
            report.last = _state(pid)
            report.check_growth()
    return report


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program with command-line `arguments` (default: those of the process); the exit code is 1 if there was a problem."""
    parser = argparse.ArgumentParser(prog="python -m tools.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    asked = parser.parse_args(arguments)
    report = soak(60 * asked.minutes)
    for action, count in sorted(report.counts.items()):
        print(f"{action}: {count}")
    print(f"when warm: {report.warm}\nat the end: {report.last}")
    print("\n".join(report.problems[:20]) or "no problems")
    sys.exit(bool(report.problems))


if __name__ == "__main__":
    main()
