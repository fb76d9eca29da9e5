"""`python -m documentation.serving`: measure `specdec serve` beside a server that calls CTranslate2 for each request.

Both run on this machine, one after the other in turns, and answer on Unix sockets.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from documentation.serving.load import Client, Load, closed_loop, open_loop
from specdec_cli.benchmark.examples import read_sample
from specdec_cli.text.sentences import split_sentences

CLIENTS = 8
_START = 60.0
PARAGRAPH = (
    "Last summer we has travelled to the mountains with my brother and his two childrens. The weather were wonderful, and every morning "
    "we was walking along the river before breakfast. My brother, who do not like long walks, have stayed at the hotel and readed a book "
    "about birds. In the evening we ate in a small restaurant near of the lake, where an old man played the accordion. He tell us a story "
    "about a bear that had came down to the village many year ago. Nobody believed him, but the children was laughing and asked for more."
)


@contextmanager
def server(command: Sequence[str], path: Path) -> Iterator[None]:
    """Run a server inside the block; it must answer /health on the Unix socket `path` within a minute."""
    process = subprocess.Popen([sys.executable, "-m", *command], stderr=subprocess.DEVNULL, env=os.environ | {"OMP_NUM_THREADS": "1"})
    try:
        started = time.monotonic()
        while not path.exists() and process.poll() is None and time.monotonic() - started < _START:
            time.sleep(0.1)
        time.sleep(0.5)
        yield
    finally:
        process.terminate()
        process.wait(30)


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
    parser = argparse.ArgumentParser(prog="python -m documentation.serving", description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="seconds of each load")
    parser.add_argument("--repetitions", type=int, default=3)
    asked = parser.parse_args(arguments)
    texts = [text for text in read_sample().sources if len(split_sentences(text).texts) == 1]
    with tempfile.TemporaryDirectory(prefix="specdec-") as name:
        _measure(Path(name), texts, asked.seconds, asked.repetitions)


def _measure(folder: Path, texts: Sequence[str], seconds: float, repetitions: int) -> None:
    converted = folder / "en-de"
    subprocess.run([sys.executable, "-m", "specdec_cli", "convert", "en-de", str(converted), "--to", "ctranslate2"], check=True)
    ours = folder / "specdec.socket"
    others = {f"ctranslate2, {workers} x {threads} threads": (workers, threads) for workers, threads in ((2, 1), (1, 2), (1, 1))}
    commands = {"specdec": (["specdec_cli", "serve", "--unix", str(ours), "--quiet"], ours)}
    for name, (workers, threads) in others.items():
        path = folder / f"{workers}-{threads}.socket"
        module = "documentation.serving.ctranslate2_server"
        commands[name] = [module, str(converted), str(path), str(workers), str(threads)], path
    rates: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(repetitions):
        for name, (command, path) in commands.items():
            path.unlink(missing_ok=True)
            with server(command, path):
                asyncio.run(closed_loop(path, texts, CLIENTS, 1.0))
                load = asyncio.run(closed_loop(path, texts, CLIENTS, seconds))
            print(f"{name}, {CLIENTS} clients: {load}", flush=True)
            rates[name].append(load.per_second)
    best = max(median(values) for name, values in rates.items() if name != "specdec")
    most = median(rates["specdec"])
    print(f"specdec: {most / best:.2f} times the requests per second of the fastest other server")
    with server(*commands["specdec"]):
        asyncio.run(closed_loop(ours, texts, CLIENTS, 1.0))
        print(f"specdec, half load: {asyncio.run(open_loop(ours, texts, most / 2, 2 * seconds))}")
        print(f"specdec, /v2/check of {len(PARAGRAPH.split())} words: {asyncio.run(_checks(ours, 50))}")


if __name__ == "__main__":
    main()
