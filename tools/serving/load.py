"""Load for a server on a Unix socket of this machine: clients that send one request after another, or at random times."""

import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from urllib.parse import urlencode


@dataclass(frozen=True)
class Load:
    """The results of a load: the seconds of each request, in the order in which they ended, and those of the whole load."""

    latencies: tuple[float, ...]
    seconds: float

    @property
    def per_second(self) -> float:
        """Requests per second."""
        return len(self.latencies) / self.seconds

    def percentile(self, percent: float) -> float:
        """The latency in milliseconds that `percent` of the requests do not exceed."""
        ordered = sorted(self.latencies)
        return 1000 * ordered[min(int(len(ordered) * percent / 100), len(ordered) - 1)]

    def percentiles(self) -> dict[str, float]:
        """The median, and the latency that 99 percent of the requests do not exceed, in milliseconds."""
        return {"median": self.percentile(50), "p99": self.percentile(99)}

    def __str__(self) -> str:
        return (
            f"{len(self.latencies)} requests in {self.seconds:.1f} s: {self.per_second:.1f}/s, "
            f"median {1000 * median(self.latencies):.1f} ms, p99 {self.percentile(99):.1f} ms"
        )


class Client:
    """A client with one connection, which is opened by the first request."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, path: str, **fields: str) -> tuple[int, bytes]:
        """Send a form and return status and body of the response."""
        return await self.send(path, urlencode(fields).encode())

    async def send(
        self, path: str, body: bytes, kind: str = "application/x-www-form-urlencoded", method: str = "POST"
    ) -> tuple[int, bytes]:
        """Send a body with the content type `kind` and return status and body of the response."""
        if self._streams is None:
            self._streams = await asyncio.open_unix_connection(self._path)
        reader, writer = self._streams
        head = f"{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        lines = (await reader.readuntil(b"\r\n\r\n")).lower().split(b"\r\n")
        length = next(int(line.partition(b":")[2]) for line in lines if line.startswith(b"content-length:"))
        answer = await reader.readexactly(length)
        if b"connection: close" in lines:
            self.close()
        return int(lines[0].split()[1]), answer

    def close(self) -> None:
        """Close the connection."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def closed_loop(path: Path, texts: Sequence[str], clients: int, seconds: float) -> Load:
    """`clients` clients, each of which sends its next text when it has the response to the last one."""
    latencies: list[float] = []
    started = time.monotonic()

    async def run(number: int) -> None:
        client, generator = Client(path), random.Random(number)
        while time.monotonic() - started < seconds:
            latencies.append(await _timed(client, generator.choice(texts)))
        client.close()

    await asyncio.gather(*map(run, range(clients)))
    return Load(tuple(latencies), time.monotonic() - started)


async def open_loop(path: Path, texts: Sequence[str], per_second: float, seconds: float) -> Load:
    """Requests at random times (a Poisson process), `per_second` in the mean, whether or not earlier ones have ended.

    At most 64 run at once; the time that a request waits for one of 64 clients counts as its latency.
    """
    generator, idle = random.Random(1), asyncio.Queue[Client]()
    for _ in range(64):
        idle.put_nowait(Client(path))
    latencies: list[float] = []

    async def send(text: str) -> None:
        begun = time.monotonic()
        client = await idle.get()
        await _timed(client, text)
        idle.put_nowait(client)
        latencies.append(time.monotonic() - begun)

    started, due, tasks = time.monotonic(), 0.0, []
    while due < seconds:
        due += generator.expovariate(per_second)
        await asyncio.sleep(max(0.0, started + due - time.monotonic()))
        tasks.append(asyncio.create_task(send(generator.choice(texts))))
    await asyncio.gather(*tasks)
    elapsed = time.monotonic() - started
    while not idle.empty():
        idle.get_nowait().close()
    return Load(tuple(latencies), elapsed)


async def _timed(client: Client, text: str) -> float:
    started = time.monotonic()
    status, answer = await client.post("/translate", q=text, source="en", target="de")
    if status != 200:
        raise RuntimeError(f"status {status}: {answer!r}")
    return time.monotonic() - started
