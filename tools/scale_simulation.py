"""A simulation of a run on a cluster: workers that process shards, and one command that sends shards and stores results."""

import heapq
from dataclasses import dataclass

GIGABIT = 1e9 / 8
"""Bytes a second of a network of one gigabit a second."""


@dataclass(frozen=True)
class Costs:
    """What a shard costs: seconds of a worker, seconds of the command for sending and for storing it, and bytes sent and received."""

    worker: float
    send: float
    store: float
    bytes: float

    @property
    def command(self) -> float:
        """Seconds of the command for a shard."""
        return self.send + self.store


@dataclass(frozen=True)
class Simulated:
    """A simulated run: its duration in seconds, and the shares of it that workers and command were busy (0 to 1)."""

    seconds: float
    workers_busy: float
    command_busy: float


def simulate(workers: int, shards: int, costs: Costs) -> Simulated:
    """Simulate a run of `shards` equal shards with `workers` workers.

    The command is a queue with one server: it takes the results of workers in the order of their arrival, stores each, and sends the
    worker the next shard. A worker waits meanwhile.
    """
    # Each event is the time at which a worker comes to the command; in the first events it brings no result.
    arrivals = [(0.0, False)] * workers
    free, sent, end = 0.0, 0, 0.0
    while arrivals:
        time, brings = heapq.heappop(arrivals)
        free = max(free, time)
        if brings:
            free += costs.store
            end = free
        if sent < shards:
            free += costs.send
            sent += 1
            heapq.heappush(arrivals, (free + costs.worker, True))
    return Simulated(end, shards * costs.worker / (workers * end), shards * costs.command / end)


def bottleneck(workers: int, costs: Costs, network: float = GIGABIT) -> tuple[str, float]:
    """What limits a run with this many workers, and the number of workers that it could serve.

    `network` is the bandwidth of the command's machine in bytes a second.
    """
    cycle = costs.worker + costs.command
    limits = {"the command": cycle / costs.command, "its network": cycle / (costs.bytes / network)}
    name, most = min(limits.items(), key=lambda item: item[1])
    return (name, most) if most < workers else ("the workers", most)
