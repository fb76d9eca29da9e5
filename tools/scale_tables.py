"""Tables of docs/scale.md, from the stored measurement and the simulation."""

import json
from functools import cache
from typing import Any

from specdec_cli.benchmark.columns import NOTHING
from tools.pages import DOCS
from tools.scale_simulation import Costs, Simulated, bottleneck, simulate
from tools.tables import markdown

RESULT = DOCS / "results" / "cluster" / "scale.json"
SHARD_LINES = 1000
SENTENCES = 10**9
WORKERS = (1, 10, 100, 1000)
_MOST_OTHERS = 0.1
_WAYS = {"plain": "without Ray", "one": "one worker", "two": "two workers"}


@cache
def measured() -> dict[str, Any]:
    """The stored measurement."""
    found: dict[str, Any] = json.loads(RESULT.read_text(encoding="utf-8"))
    return found


def costs(lines: int = SHARD_LINES) -> Costs:
    """What a shard of `lines` lines costs, in processor time: a worker's part is that of `distill` without Ray, loading included; the
    command's is measured with workers that sleep.
    """
    distill, sleepers = measured()["distill"], measured()["sleepers"]
    worker = sum(distill["plain"]["cpu"].values()) / distill["lines"] * lines
    command = sleepers["command_cpu"] / sleepers["shards"] * lines / SHARD_LINES
    moved = (distill["input_bytes"] + distill["plain"]["output_bytes"]) / distill["lines"]
    return Costs(worker, command / 2, command / 2, moved * lines)


def is_quiet() -> bool:
    """Whether other programs left the processors alone while `distill` was measured, so that its wall times can be compared."""
    shares = [measured()["distill"][name]["others"] for name in _WAYS]
    return all(share is not None and share <= _MOST_OTHERS for share in shares)


def runs() -> str:
    """The Markdown table of the measured runs of `distill`."""
    distill = measured()["distill"]
    rows = []
    for name, title in _WAYS.items():
        run = distill[name]
        speed = run["lines_per_second"]
        cpu = (f"{1000 * run['cpu'][role] / distill['lines']:.2f}" for role in ("command", "workers", "ray"))
        others = NOTHING if run["others"] is None else f"{run['others']:.0%}"
        ratio = f"{speed / distill['one']['lines_per_second']:.2f}x"
        wall = (f"{speed:,.1f}", ratio) if is_quiet() else (NOTHING, NOTHING)
        rows.append((title, *wall, *cpu, f"{run['memory'].get('workers', 0) / 2**20:,.0f}", others))
    columns = ("run", "lines/s", "vs one worker", "CPU s: command", "workers", "Ray", "MB: workers", "other load")
    return markdown(columns, rows, 1) + "\n" + _machine()


def check() -> str:
    """The Markdown table that compares the simulation with measured runs."""
    distill, sleepers = measured()["distill"], measured()["sleepers"]
    rows = []
    cost, shards = costs(distill["shard_lines"]), distill["lines"] // distill["shard_lines"]
    for workers, name in ((1, "one"), (2, "two")):
        simulated = distill["lines"] / simulate(workers, shards, cost).seconds
        speed = f"{distill[name]['lines_per_second']:,.1f} lines/s" if is_quiet() else NOTHING
        rows.append((f"distill, {_WAYS[name]}", f"{simulated:,.1f} lines/s", speed))
    rows.append((f"{sleepers['workers']} workers that sleep", f"{_sleepers().seconds:.1f} s", f"{sleepers['wall']:.1f} s"))
    return markdown(("run", "simulated", "measured"), rows, 1)


def _sleepers() -> Simulated:
    sleepers = measured()["sleepers"]
    own = costs()
    return simulate(sleepers["workers"], sleepers["shards"], Costs(sleepers["seconds_a_shard"], own.send, own.store, own.bytes))


def cost() -> str:
    """The Markdown table of the cost of a billion sentences."""
    distill, each = measured()["distill"], costs(1)
    plain, one = distill["plain"], distill["one"]
    gigabytes = {name: SENTENCES * size / distill["lines"] / 1e9 for name, size in _sizes().items()}
    cpu = sum(plain["cpu"].values())
    rows = [
        ("CPU hours of workers", f"{SENTENCES * cpu / distill['lines'] / 3600:,.0f}"),
        ("CPU hours of the command", f"{SENTENCES * each.command / 3600:,.1f}"),
        ("input, GB", f"{gigabytes['input']:,.0f}"),
        ("output, GB", f"{gigabytes['output']:,.0f}"),
        ("memory of the command, if it is distill, GB", f"{SENTENCES * distill['line_memory'] / 1e9:,.0f}"),
        ("memory of a worker, MB", f"{one['memory']['workers'] / 2**20:,.0f}"),
    ]
    return markdown(("for 1,000,000,000 sentences", ""), rows, 1)


def _sizes() -> dict[str, int]:
    distill = measured()["distill"]
    return {"input": distill["input_bytes"], "output": distill["plain"]["output_bytes"]}


def workers() -> str:
    """The Markdown table of simulated runs with more and more workers."""
    each = costs()
    rows = []
    for number in WORKERS:
        shards = 20 * number
        run = simulate(number, shards, each)
        rate = shards * SHARD_LINES / run.seconds
        name, most = bottleneck(number, each)
        days = SENTENCES / rate / 86400
        moved = rate / SHARD_LINES * each.bytes / 1e6
        cells = (f"{rate:,.0f}", f"{days:,.1f}", f"{run.workers_busy:.1%}", f"{run.command_busy:.1%}", f"{moved:.2f}", name, f"{most:,.0f}")
        rows.append((f"{number:,}", *cells))
    columns = ("workers", "lines/s", "days", "workers busy", "command busy", "MB/s", "limited by", "workers that the command can serve")
    return markdown(columns, rows, 1)


def figures() -> str:
    """A sentence each on the time to start and on the overhead of the command."""
    found = measured()
    sleepers = found["sleepers"]
    start = f"* A run of one line with `--ray` takes {found['distill']['start']:.1f} s, from the start of the command to its end.\n"
    asleep = (
        f"* {sleepers['workers']} workers that sleep {sleepers['seconds_a_shard']:.0f} s for each shard of 1,000 lines take "
        f"{sleepers['overhead']:.1%} longer than the sleep.\n"
    )
    return start + asleep if is_quiet() else asleep


def _machine() -> str:
    known = measured()["environment"]
    versions = f"specdec {known['specdec']}, ctranslate2 {known['ctranslate2']}"
    return f"{known['cpu']}; {known['cores']} cores; {versions}; {known['date'][:10]}.\n"
