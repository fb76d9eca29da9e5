"""Corruption of many lines in one process or several, in order and with bounded memory."""

import os
import signal
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import chain, islice
from multiprocessing import get_context, parent_process
from threading import Thread

from specdec_cli.corruption.corrupter import Corrupter, CorruptionRecipe
from specdec_cli.corruption.spelling import misspellings
from specdec_cli.errors import InputError, ModelError, SpecdecError, counted
from specdec_cli.text.io.lines import Line

_CHUNK_LINES = 500
_CHUNKS_AHEAD = 2


def text_column(line: Line, column: int | None) -> str:
    """Column `column` (from 1; None: the last one) of a line with tabs. Raises InputError if the line has fewer."""
    if column is None:
        return line.text.rpartition("\t")[2]
    fields = line.text.split("\t")
    if len(fields) < column:
        raise InputError(f"{line.location}: {counted(len(fields), 'tab-separated field')}, so no column {column}")
    return fields[column - 1]


@dataclass(frozen=True)
class Plan:
    """Settings of a run of corruption: recipe, seed, and the number of independent corruptions (`copies`) of each line."""

    recipe: CorruptionRecipe
    seed: int = 1
    copies: int = 1


ERRORS = "errors: "
"""The name of the count of a kind of errors is this, followed by the name of the kind."""


@dataclass(frozen=True)
class Chunk:
    """The pairs (corrupted line, original line) of each of up to 500 consecutive lines, in order, and counts.

    A blank line has no pairs. Counted are "lines" read, "blank" ones among them, "pairs" made of the others, pairs without errors
    ("clean"), "words" in all pairs, and errors of each kind.
    """

    by_line: list[list[tuple[str, str]]]
    counts: Counter[str]

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs of all lines."""
        return list(chain.from_iterable(self.by_line))


def corrupt_lines(texts: Iterable[str], plan: Plan, processes: int = 1) -> Iterator[Chunk]:
    """Corrupt lines and yield the results in chunks, in order; the output does not depend on `processes`.

    Raises UsageError if codespell is not installed, and ModelError if a process dies. An error (SpecdecError) that
    `texts` raises is raised after the results of the lines before it.
    """
    misspellings()
    failures: list[SpecdecError] = []
    chunks = _chunks(_until_failure(texts, failures))
    # Few lines are corrupted in this process, which is faster than starting others.
    head = list(islice(chunks, 2)) if processes > 1 else []
    if len(head) < 2:
        yield from (corrupt_chunk(plan, *lines) for lines in chain(head, chunks))
    else:
        yield from _in_processes(chain(head, chunks), plan, processes)
    for failure in failures:
        raise failure


def _until_failure(texts: Iterable[str], failures: list[SpecdecError]) -> Iterator[str]:
    """Yield `texts` up to a SpecdecError, which is appended to `failures`."""
    try:
        yield from texts
    except SpecdecError as error:
        failures.append(error)


def _chunks(texts: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield consecutive chunks of lines, each with the number of its first line."""
    lines, first = iter(texts), 1
    while chunk := list(islice(lines, _CHUNK_LINES)):
        yield first, chunk
        first += len(chunk)


def _in_processes(chunks: Iterable[tuple[int, list[str]]], plan: Plan, processes: int) -> Iterator[Chunk]:
    """Yield the results in order; the number of chunks in progress is limited, which bounds memory."""
    context = get_context("spawn")
    with ProcessPoolExecutor(processes, context, _begin_worker) as pool:
        running: deque[Future[Chunk]] = deque()
        try:
            for first, texts in chunks:
                running.append(pool.submit(corrupt_chunk, plan, first, texts))
                if len(running) > _CHUNKS_AHEAD * processes:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
        except BrokenProcessPool as error:
            raise ModelError("a worker process has died (out of memory?)") from error
        finally:
            for future in running:
                future.cancel()


def _begin_worker() -> None:
    """Initialise a worker process: ignore SIGINT, which the parent process handles, and end when the parent process ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    # A worker would wait forever if SIGKILL ends the parent, because the other workers keep the work queue's pipe open.
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def corrupt_chunk(plan: Plan, first: int, texts: Sequence[str]) -> Chunk:
    """Corrupt consecutive lines, the first of which has the number `first` (from 1) in the whole input."""
    corrupter = Corrupter(plan.recipe, plan.seed)
    by_line: list[list[tuple[str, str]]] = []
    counts = Counter(lines=len(texts))
    for number, text in enumerate(texts, start=first):
        pairs: list[tuple[str, str]] = []
        by_line.append(pairs)
        if not text.strip():
            counts["blank"] += 1
            continue
        for copy in range(plan.copies):
            corruption = corrupter.corrupt(text, number, copy)
            pairs.append((corruption.text, text))
            counts["clean"] += not corruption.errors
            counts["words"] += corruption.words
            counts.update(f"{ERRORS}{kind}" for kind in corruption.errors)
        counts["pairs"] += len(pairs)
    return Chunk(by_line, counts)
