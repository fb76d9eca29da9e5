"""`python -m tools.serving.soak`: let random clients use a server for some minutes, and look for leaks and lost requests.

Clients translate, correct, send documents and use the page; some leave in the middle of a request, others send garbage. Every answer to
a valid request is compared with the first one for the same text. Everything stays on a Unix socket of this machine.
"""

import argparse
import asyncio
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from specdec_cli.benchmark.environment import describe_environment
from specdec_cli.benchmark.examples import read_sample
from specdec_cli.files import write_json
from tools.serving.load import Client
from tools.serving.processes import running

CLIENTS = 12
_MOST_GROWTH = 5  # percent
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


class Soak:
    """Clients of a server on the Unix socket `path`; `counts` has what happened, `problems` what should not have."""

    def __init__(self, path: Path, texts: Sequence[str], until: float) -> None:
        self._path, self._texts, self._until = path, texts, until
        self._known: dict[tuple[str, str], bytes] = {}
        self.counts: Counter[str] = Counter()
        self.problems: list[str] = []

    async def run(self, number: int) -> None:
        """Act as one client until the time is up."""
        generator, client = random.Random(number), Client(self._path)
        actions = [self._translate, self._translate, self._check, self._list, self._document, self._show]
        actions += [self._leave, self._garbage, self._broken]
        while time.monotonic() < self._until:
            action = generator.choice(actions)
            try:
                await asyncio.wait_for(action(generator, client), 60)
            except (TimeoutError, OSError, asyncio.IncompleteReadError) as error:
                self.problems.append(f"{action.__name__}: {error!r}")
                client.close()
            await asyncio.sleep(generator.expovariate(10))
        client.close()

    def _count(self, name: str, status: int, expected: int = 200) -> None:
        self.counts[f"{name} {status}"] += 1
        if status not in (expected, 429, 503):
            self.problems.append(f"{name}: status {status}")

    def _compare(self, name: str, text: str, status: int, answer: bytes) -> None:
        self._count(name, status)
        if status == 200 and self._known.setdefault((name, text), answer) != answer:
            self.problems.append(f"{name}: another answer to {text!r}: {answer!r}")

    async def _translate(self, generator: random.Random, client: Client) -> None:
        text = generator.choice(self._texts)
        self._compare("translate", text, *await client.post("/translate", q=text, source="en", target="de"))

    async def _check(self, generator: random.Random, client: Client) -> None:
        text = "\n\n".join(generator.sample(self._texts, 2))
        self._compare("check", text, *await client.post("/v2/check", text=text, language="en-US"))

    async def _list(self, generator: random.Random, client: Client) -> None:
        texts = generator.sample(self._texts, generator.randint(1, 20))
        body = json.dumps({"q": texts, "source": "auto", "target": "de", "format": generator.choice(["text", "html"])})
        status, answer = await client.send("/translate", body.encode(), "application/json")
        self._count("list", status)
        if status == 200 and len(json.loads(answer)["translatedText"]) != len(texts):
            self.problems.append(f"list: {len(texts)} texts, {answer!r}")

    async def _document(self, generator: random.Random, client: Client) -> None:
        text = "\n".join(f"- {text}" for text in generator.sample(self._texts, 2))
        head = 'Content-Disposition: form-data; name="file"; filename="a.md"'
        fields = "".join(f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in _PAIR.items())
        body = f"{fields}--x\r\n{head}\r\n\r\n{text}\r\n--x--".encode()
        status, answer = await client.send("/translate_file", body, "multipart/form-data; boundary=x")
        self._count("document", status)
        if status == 200:
            address = urlsplit(json.loads(answer)["translatedFileUrl"]).path
            self._compare("fetched document", text, *await client.send(address, b"", method="GET"))

    async def _show(self, generator: random.Random, client: Client) -> None:  # noqa: ARG002
        fields = {"text": generator.choice(self._texts), "task": "translate", "source": "en", "target": "de"}
        reader, writer = await self._send("/show", urlencode(fields).encode(), close=True)
        answer = await reader.read()
        writer.close()
        self._count("show", int(answer.split()[1]))
        if b" 200 " in answer[:20] and b"event: result" not in answer:
            self.problems.append(f"show: {answer!r}")

    async def _leave(self, generator: random.Random, client: Client) -> None:  # noqa: ARG002
        text = " ".join(generator.choices(self._texts, k=generator.randint(1, 40)))
        fields = {"q": text, "text": text[:1500], "source": "en", "target": "de", "language": "en", "task": "translate"}
        _, writer = await self._send(generator.choice(_PATHS), urlencode(fields).encode())
        await asyncio.sleep(generator.choice([0, 0.002, 0.02, 0.1]))
        writer.transport.abort()
        self.counts["left"] += 1

    async def _garbage(self, generator: random.Random, client: Client) -> None:  # noqa: ARG002
        reader, writer = await asyncio.open_unix_connection(self._path)
        with suppress(OSError):
            writer.write(generator.choice(_GARBAGE))
            with suppress(TimeoutError):
                await asyncio.wait_for(reader.read(100), generator.choice([0.01, 0.1]))
        writer.transport.abort()
        self.counts["garbage"] += 1

    async def _broken(self, generator: random.Random, client: Client) -> None:
        status, _ = await client.send(generator.choice(_PATHS), generator.choice(_BROKEN))
        self.counts[f"broken {status}"] += 1
        if status >= 500:
            self.problems.append(f"broken: status {status}")

    async def _send(self, path: str, body: bytes, *, close: bool = False) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_unix_connection(self._path)
        end = "connection: close\r\n" if close else ""
        writer.write(f"POST {path} HTTP/1.1\r\nhost: localhost\r\n{end}content-length: {len(body)}\r\n\r\n".encode() + body)
        return reader, writer


def _state(pid: int) -> tuple[float, int, int]:
    """Resident memory in MB, open files and threads of a process."""
    folder = Path("/proc") / str(pid)
    values = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
    return int(values["VmRSS"].split()[0]) / 1024, len(list((folder / "fd").iterdir())), int(values["Threads"])


async def _watch(pid: int, until: float) -> list[tuple[float, int, int]]:
    states = []
    while time.monotonic() < until:
        await asyncio.sleep(5)
        states.append(_state(pid))
    return states


async def _soak(path: Path, pid: int, seconds: float) -> tuple[Soak, list[tuple[float, int, int]]]:
    until = time.monotonic() + seconds
    soak = Soak(path, read_sample().sources, until)
    watching = asyncio.create_task(_watch(pid, until))
    await asyncio.gather(*map(soak.run, range(CLIENTS)))
    states = await watching
    await asyncio.sleep(2)
    client = Client(path)
    status, _ = await client.post("/translate", q="Good morning!", source="en", target="de")
    client.close()
    soak.counts[f"last {status}"] += 1
    return soak, [*states, _state(pid)]


def _measure(minutes: float) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="specdec-") as name:
        path = Path(name) / "socket"
        with running(["specdec_cli", "serve", "--unix", str(path), "--quiet"], path) as process:
            soak, states = asyncio.run(_soak(path, process.pid, 60 * minutes))
    warm, last = (
        {"megabytes": state[0], "files": state[1], "threads": state[2]} for state in (states[max(len(states) // 5 - 1, 0)], states[-1])
    )
    machine = {"device": "cpu", "precision": "int8", "model": "en-de and en-gec"}
    return {
        "environment": describe_environment() | machine,
        "minutes": minutes,
        "clients": CLIENTS,
        "counts": dict(sorted(soak.counts.items())),
        "warm": warm,
        "last": last,
        "exit_code": process.returncode,
        "problems": soak.problems,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the soak test with command-line `arguments` (default: those of the process); the exit code is 1 if something was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tools.serving.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to this file too")
    asked = parser.parse_args(arguments)
    record = _measure(asked.minutes)
    warm, last = record["warm"], record["last"]
    growth = 100 * (last["megabytes"] / warm["megabytes"] - 1)
    for count in record["counts"].items():
        print("{}: {}".format(*count))
    print(f"memory: {warm['megabytes']:.1f} MB after a fifth of the time, {last['megabytes']:.1f} MB at the end ({growth:+.1f} %)")
    print(f"open files: {warm['files']}, {last['files']}; threads: {warm['threads']}, {last['threads']}; exit code {record['exit_code']}")
    print("\n".join(record["problems"][:20]) or "no problems")
    if asked.json is not None:
        write_json(asked.json, record)
    sys.exit(bool(record["problems"]) or growth > _MOST_GROWTH or record["exit_code"] != 0)


if __name__ == "__main__":
    main()
