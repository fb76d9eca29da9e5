"""`python -m tools.serving`: measure `specdec serve` beside a server that calls CTranslate2 for each request.

Both run on this machine, one after the other in turns, and answer on Unix sockets.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from specdec_cli.benchmark.environment import describe_environment
from specdec_cli.benchmark.examples import read_sample
from specdec_cli.files import write_json
from specdec_cli.text.segment.sentences import split_sentences
from tools.serving.load import Client, Load, closed_loop, open_loop
from tools.serving.processes import processor_seconds, running

CLIENTS = 8
OURS = "specdec"
_CTRANSLATE2 = ((2, 1), (1, 2), (1, 1))
"""Numbers of workers of CTranslate2, and of threads of each."""
PARAGRAPH = (
    "Last summer we has travelled to the mountains with my brother and his two childrens. The weather were wonderful, and every morning "
    "we was walking along the river before breakfast. My brother, who do not like long walks, have stayed at the hotel and readed a book "
    "about birds. In the evening we ate in a small restaurant near of the lake, where an old man played the accordion. He tell us a story "
    "about a bear that had came down to the village many year ago. Nobody believed him, but the children was laughing and asked for more."
)


async def _checks(path: Path, count: int) -> Load:
    client, latencies, started = Client(path), [], time.monotonic()
    for _ in range(count):
        begun = time.monotonic()
        status, _ = await client.post("/v2/check", text=PARAGRAPH, language="en-US")
        assert status == 200
        latencies.append(time.monotonic() - begun)
    client.close()
    return Load(tuple(latencies), time.monotonic() - started)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the measurements with command-line `arguments` (default: those of the process) and print their results."""
    parser = argparse.ArgumentParser(prog="python -m tools.serving", description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="seconds of each load")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to this file too")
    asked = parser.parse_args(arguments)
    texts = [text for text in read_sample().sources if len(split_sentences(text).texts) == 1]
    with tempfile.TemporaryDirectory(prefix="specdec-") as name:
        record = _measure(Path(name), texts, asked.seconds, asked.repetitions)
    if asked.json is not None:
        machine = {"device": "cpu", "precision": "int8", "model": "en-de and en-gec", "repetitions": asked.repetitions}
        write_json(asked.json, {"environment": describe_environment() | machine} | record)


def _measure(folder: Path, texts: Sequence[str], seconds: float, repetitions: int) -> dict[str, Any]:
    converted = folder / "en-de"
    command = [sys.executable, "-m", "specdec_cli", "convert", "en-de", str(converted), "--to", "ctranslate2"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    ours = folder / "specdec.socket"
    commands = {OURS: (["specdec_cli", "serve", "--unix", str(ours), "--quiet"], ours)}
    for workers, threads in _CTRANSLATE2:
        path = folder / f"{workers}-{threads}.socket"
        module = ["tools.serving.ctranslate2_server", str(converted), str(path), str(workers), str(threads)]
        commands[f"CTranslate2, {workers} x {threads} thread{'s' * (threads > 1)}"] = module, path
    results: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(repetitions):
        for name, (module, path) in commands.items():
            results[name].append(_load(name, module, path, texts, seconds))
    servers = {
        name: {"requests_per_second": median(rate for rate, _ in found), "processor_milliseconds": median(used for _, used in found)}
        for name, found in results.items()
    }
    _compare(servers)
    with running(*commands[OURS]):
        asyncio.run(closed_loop(ours, texts, CLIENTS, 1.0))
        half = asyncio.run(open_loop(ours, texts, servers[OURS]["requests_per_second"] / 2, 2 * seconds))
        check = asyncio.run(_checks(ours, 100))
    print(f"specdec, half load: {half}")
    print(f"specdec, /v2/check of {len(PARAGRAPH.split())} words: {check}")
    latencies = {"half": half.percentiles(), "check": check.percentiles()}
    return {"clients": CLIENTS, "words": len(PARAGRAPH.split()), "servers": servers, "latencies": latencies}


def _load(name: str, module: Sequence[str], path: Path, texts: Sequence[str], seconds: float) -> tuple[float, float]:
    """Requests per second of a server, and its milliseconds of processor time a request."""
    path.unlink(missing_ok=True)
    with running(module, path) as process:
        asyncio.run(closed_loop(path, texts, CLIENTS, 1.0))
        before = processor_seconds(process.pid)
        load = asyncio.run(closed_loop(path, texts, CLIENTS, seconds))
        used = 1000 * (processor_seconds(process.pid) - before) / len(load.latencies)
    print(f"{name}, {CLIENTS} clients: {load}, {used:.2f} ms of processor time a request", flush=True)
    return load.per_second, used


def best_others(servers: Mapping[str, Mapping[str, float]]) -> tuple[str, str]:
    """The names of the other server with the most requests per second, and of the one with the least processor time a request."""
    others = [name for name in servers if name != OURS]
    fastest = max(others, key=lambda name: servers[name]["requests_per_second"])
    return fastest, min(others, key=lambda name: servers[name]["processor_milliseconds"])


def _compare(servers: Mapping[str, Mapping[str, float]]) -> None:
    """Print the ratios of specdec to the best other servers."""
    fastest, leanest = best_others(servers)
    ours = servers[OURS]
    rates = ours["requests_per_second"] / servers[fastest]["requests_per_second"]
    print(f"requests per second: {rates:.2f} times those of {fastest}")
    used = servers[leanest]["processor_milliseconds"] / ours["processor_milliseconds"]
    print(f"processor time of a request: 1/{used:.2f} of that of {leanest}")


if __name__ == "__main__":
    main()
