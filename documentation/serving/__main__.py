"""`python -m documentation.serving`: measure `specdec serve` beside a server that calls CTranslate2 for each request.

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

from documentation.serving.load import Client, Load, closed_loop, open_loop
from documentation.serving.processes import processor_seconds, running
from specdec_cli.benchmark.examples import read_sample
from specdec_cli.text.sentences import split_sentences

CLIENTS = 8
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
    parser = argparse.ArgumentParser(prog="python -m documentation.serving", description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="seconds of each load")
    parser.add_argument("--repetitions", type=int, default=3)
    asked = parser.parse_args(arguments)
    texts = [text for text in read_sample().sources if len(split_sentences(text).texts) == 1]
    with tempfile.TemporaryDirectory(prefix="specdec-") as name:
        _measure(Path(name), texts, asked.seconds, asked.repetitions)


def _measure(folder: Path, texts: Sequence[str], seconds: float, repetitions: int) -> None:
    converted = folder / "en-de"
    command = [sys.executable, "-m", "specdec_cli", "convert", "en-de", str(converted), "--to", "ctranslate2"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    ours = folder / "specdec.socket"
    commands = {"specdec": (["specdec_cli", "serve", "--unix", str(ours), "--quiet"], ours)}
    for workers, threads in _CTRANSLATE2:
        path = folder / f"{workers}-{threads}.socket"
        module = ["documentation.serving.ctranslate2_server", str(converted), str(path), str(workers), str(threads)]
        commands[f"ctranslate2, {workers} workers of {threads} threads"] = module, path
    results: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(repetitions):
        for name, (module, path) in commands.items():
            path.unlink(missing_ok=True)
            with running(module, path) as process:
                asyncio.run(closed_loop(path, texts, CLIENTS, 1.0))
                before = processor_seconds(process.pid)
                load = asyncio.run(closed_loop(path, texts, CLIENTS, seconds))
                used = (processor_seconds(process.pid) - before) / len(load.latencies)
            print(f"{name}, {CLIENTS} clients: {load}, {1000 * used:.2f} ms of processor time a request", flush=True)
            results[name].append((load.per_second, used))
    _compare(results)
    with running(*commands["specdec"]):
        asyncio.run(closed_loop(ours, texts, CLIENTS, 1.0))
        most = median(rate for rate, _ in results["specdec"])
        print(f"specdec, half load: {asyncio.run(open_loop(ours, texts, most / 2, 2 * seconds))}")
        print(f"specdec, /v2/check of {len(PARAGRAPH.split())} words: {asyncio.run(_checks(ours, 100))}")


def _compare(results: Mapping[str, Sequence[tuple[float, float]]]) -> None:
    """Print the ratios of specdec to the other server with the most requests per second, and to the one of least processor time."""
    rates = {name: median(rate for rate, _ in found) for name, found in results.items()}
    used = {name: median(used for _, used in found) for name, found in results.items()}
    others = [name for name in results if name != "specdec"]
    fastest, leanest = max(others, key=lambda name: rates[name]), min(others, key=lambda name: used[name])
    print(f"requests per second: {rates['specdec'] / rates[fastest]:.2f} times those of {fastest}")
    print(f"processor time of a request: 1/{used[leanest] / used['specdec']:.2f} of that of {leanest}")


if __name__ == "__main__":
    main()
