"""The measurements of the server: loads, their latencies, the comparison server and the soak test."""

import asyncio
import time
from pathlib import Path

import pytest

from tests.server.conftest import Running
from tools.serving.load import Client, Load, closed_loop, open_loop
from tools.serving.processes import processor_seconds, running
from tools.serving.soak import CLIENTS, Soak

TEXTS = ("Good morning!", "The old house is red.", "He have no tea.") * 10


def test_latencies_are_summed_up() -> None:
    load = Load(tuple(number / 1000 for number in range(100, 0, -1)), 4.0)
    assert (load.per_second, load.percentile(0), load.percentile(50), load.percentile(99)) == (25.0, 1.0, 51.0, 100.0)
    assert str(load) == "100 requests in 4.0 s: 25.0/s, median 50.5 ms, p99 100.0 ms"


@pytest.mark.long
def test_loads_send_what_they_say(shipped: Running) -> None:
    assert shipped.unix is not None
    before = processor_seconds(shipped.pid)
    closed = asyncio.run(closed_loop(shipped.unix, TEXTS, 4, 0.5))
    opened = asyncio.run(open_loop(shipped.unix, TEXTS, 20, 1.0))
    assert len(closed.latencies) >= 4 and 5 <= len(opened.latencies) <= 60
    assert all(latency > 0 for latency in (*closed.latencies, *opened.latencies))
    assert processor_seconds(shipped.pid) > before


@pytest.mark.long
def test_random_clients_find_no_problems(shipped: Running) -> None:
    assert shipped.unix is not None
    soak = Soak(shipped.unix, TEXTS, time.monotonic() + 3)

    async def run() -> None:
        await asyncio.gather(*map(soak.run, range(CLIENTS)))

    asyncio.run(run())
    assert soak.problems == []
    assert {"translate 200", "check 200", "show 200", "left", "garbage", "broken 400"} <= set(soak.counts)


@pytest.mark.long
def test_the_comparison_server_translates(ctranslate2_folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "socket"

    async def ask() -> tuple[int, bytes]:
        client = Client(path)
        answer = await client.post("/translate", q="kalo mita. Resu no", source="en", target="de")
        client.close()
        return answer

    with running(["tools.serving.ctranslate2_server", str(ctranslate2_folder), str(path)], path):
        status, answer = asyncio.run(ask())
    assert status == 200 and answer.startswith(b'{"translatedText":"')
