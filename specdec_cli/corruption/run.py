"""Many lines, in one process or several, in order and in bounded memory."""

import os
import signal
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from itertools import chain, islice
from multiprocessing import get_context, parent_process
from threading import Thread

from specdec_cli.corruption.corrupter import Corrupter
from specdec_cli.corruption.lexicon import require
from specdec_cli.corruption.misspellings import misspellings
from specdec_cli.corruption.recipe import CorruptionRecipe
from specdec_cli.errors import ModelError, SpecdecError

_CHUNK_LINES = 500
_CHUNKS_AHEAD = 2


@dataclass(frozen=True)
class Plan:
    """What is to be done with every line: `copies` corruptions of each, drawn independently."""

    recipe: CorruptionRecipe
    seed: int = 1
    copies: int = 1


@dataclass
class Tally:
    """What has been done: lines read, pairs made and clean ones among them, words of all pairs, errors by kind."""

    lines: int = 0
    pairs: int = 0
    clean: int = 0
    words: int = 0
    errors: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Tally") -> None:
        """Add the counts of other lines."""
        self.lines += other.lines
        self.pairs += other.pairs
        self.clean += other.clean
        self.words += other.words
        self.errors += other.errors


@dataclass(frozen=True)
class Chunk:
    """Some lines' pairs of a corrupted and a clean line, in order, and their counts."""

    pairs: list[tuple[str, str]]
    tally: Tally


def corrupt_lines(texts: Iterable[str], plan: Plan, processes: int = 1) -> Iterator[Chunk]:
    """Corrupt lines, which are numbered from 1; the number of processes changes nothing but the time.

    Raises UsageError where a package is missing, ModelError if a process dies, and what `texts` raises once all lines
    before that are done.
    """
    require()
    misspellings()
    failures: list[SpecdecError] = []
    chunks = _chunks(_until_failure(texts, failures))
    # For few lines it takes longer to start processes.
    head = list(islice(chunks, 2)) if processes > 1 else []
    if len(head) < 2:
        yield from (_corrupt_chunk(plan, *lines) for lines in chain(head, chunks))
    else:
        yield from _in_processes(chain(head, chunks), plan, processes)
    for failure in failures:
        raise failure


def _until_failure(texts: Iterable[str], failures: list[SpecdecError]) -> Iterator[str]:
    """`texts`, which end where they cannot be read on; the cause is added to `failures`."""
    try:
        yield from texts
    except SpecdecError as error:
        failures.append(error)


def _chunks(texts: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """The number of a first line, and some lines from there."""
    lines, first = iter(texts), 1
    while some := list(islice(lines, _CHUNK_LINES)):
        yield first, some
        first += len(some)


def _in_processes(chunks: Iterable[tuple[int, list[str]]], plan: Plan, processes: int) -> Iterator[Chunk]:
    """The chunks in order. Only a few are under way at a time, so that input is read no faster than output is taken."""
    context = get_context("spawn")
    with ProcessPoolExecutor(processes, context, _begin_worker) as pool:
        waiting: deque[Future[Chunk]] = deque()
        try:
            for first, texts in chunks:
                waiting.append(pool.submit(_corrupt_chunk, plan, first, texts))
                if len(waiting) > _CHUNKS_AHEAD * processes:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool as error:
            raise ModelError("a process that corrupts lines has died (out of memory?)") from error
        finally:
            for future in waiting:
                future.cancel()


def _begin_worker() -> None:
    """Let the parent process decide about interrupts, which reach every process of a terminal, and end when it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    # A worker waits for work at a pipe that the other workers hold open, also after SIGKILL has ended the parent process.
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _corrupt_chunk(plan: Plan, first: int, texts: Sequence[str]) -> Chunk:
    corrupter = Corrupter(plan.recipe, plan.seed)
    pairs, tally = [], Tally(lines=len(texts))
    for number, text in enumerate(texts, start=first):
        for copy in range(plan.copies):
            corruption = corrupter.corrupt(text, number, copy)
            pairs.append((corruption.text, text))
            tally.pairs += 1
            tally.clean += not corruption.errors
            tally.words += corruption.words
            tally.errors.update(corruption.errors)
    return Chunk(pairs, tally)
