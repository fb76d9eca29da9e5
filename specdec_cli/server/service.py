"""The models of the server, and the limits within which requests are decoded by them."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from math import ceil
from typing import Any, NoReturn, Self, TypeVar

from starlette.requests import Request

from specdec_cli.pipeline.corrector import Correction
from specdec_cli.pipeline.translator import Translation
from specdec_cli.server.batching import BatchDecoder, Overloaded, Pool
from specdec_cli.server.keys import Keys
from specdec_cli.server.limits import Limits
from specdec_cli.server.logs import Log
from specdec_cli.server.metrics import Metrics
from specdec_cli.server.pieces import Pieces, split_pieces
from specdec_cli.server.request_error import ClientLeft, RequestError
from specdec_cli.server.variants import variants
from specdec_cli.text.spelling.word_list import WordList

T = TypeVar("T")
D = TypeVar("D", Translation, Correction)
Pair = tuple[str, str]
"""Source and target language."""
_LONGEST_RETRY = 60
_LONG = 2000
_NO_HEADERS: Mapping[str, str] = {}
_UNWATCHED = 0.05
"""Seconds after which the server watches whether the client of a request still waits. Most requests are answered before, and watching
them takes processor time."""


class OutOfTime(RequestError):
    """An error: a request was not done within the time limit of `seconds`."""

    def __init__(self, seconds: float) -> None:
        super().__init__(503, f"not done within {seconds:g} seconds; send less text", {"Retry-After": "1"})


@dataclass
class Service:
    """The decoders of the server: of translation by source and target language, of correction by language, and those that find
    several translations of a text by beam search (`alternatives`), by source and target language.
    `words` is the list to which clients may add words, None without one.

    Languages are two-letter codes, or other short ones. The decoders run inside a `with` block, in the threads of `pool`.
    """

    pool: Pool
    translators: dict[Pair, BatchDecoder[Translation]]
    correctors: dict[str, BatchDecoder[Correction]]
    limits: Limits = field(default_factory=Limits)
    keys: Keys = field(default_factory=Keys)
    log: Log = field(default_factory=Log)
    metrics: Metrics = field(default_factory=Metrics)
    alternatives: dict[Pair, BatchDecoder[Translation]] = field(default_factory=dict)
    words: WordList | None = None
    in_progress: int = 0

    def __post_init__(self) -> None:
        self.metrics.watch(lambda: self.in_progress, lambda: self.pool.backlog)

    def __enter__(self) -> Self:
        self.pool.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.pool.stop()

    def check_size(self, characters: int) -> None:
        """Raise RequestError for a request of more characters than the limit."""
        if characters > self.limits.characters:
            raise RequestError(413, f"Invalid request: {characters} characters, more than the limit of {self.limits.characters}")

    async def prepare(self, work: Callable[[], T], characters: int) -> T:
        """Return what `work` returns for a text of `characters` characters; for a long text, in a thread, so that other requests go on."""
        return await asyncio.to_thread(work) if characters > _LONG else work()

    async def translate(self, pair: Pair, texts: Sequence[str], split: Callable[[str], Pieces] = split_pieces) -> list[str]:
        """Translate texts of the languages `pair`, which must be one of `translators`; `split` divides a text into pieces."""
        pieces = await self.prepare(lambda: [split(text) for text in texts], sum(map(len, texts)) + len(texts))
        decoded = await self._translated(self.translators[pair], [line for each in pieces for line in each.texts])
        outputs = iter(each.text for each in decoded)
        return [each.join(list(islice(outputs, len(each.texts)))) for each in pieces]

    async def translate_variously(self, pair: Pair, texts: Sequence[str]) -> list[list[str]]:
        """Several translations of each text: that of `translate`, and then those of beam search, if there is a model for it."""
        if pair not in self.alternatives:
            return [[text] for text in await self.translate(pair, texts)]
        pieces = await self.prepare(lambda: [split_pieces(text) for text in texts], sum(map(len, texts)))
        lines = [line for each in pieces for line in each.texts]
        decoders = self.translators[pair], self.alternatives[pair]
        decoded, ranked = await together(self._translated(decoder, lines) for decoder in decoders)
        found = ([best.text, *(text for text, _ in other.hypotheses)] for best, other in zip(decoded, ranked, strict=True))
        return [variants(each.join, list(islice(found, len(each.texts)))) for each in pieces]

    async def _translated(self, decoder: BatchDecoder[Translation], lines: Sequence[str]) -> list[Translation]:
        return await self._decoded("translate", decoder, lines)

    async def correct(self, language: str, lines: list[str]) -> list[Correction]:
        """Correct lines of a language, which must be one of `correctors`."""
        return await self._decoded("correct", self.correctors[language], lines)

    async def _decoded(self, task: str, decoder: BatchDecoder[D], lines: Sequence[str]) -> list[D]:
        try:
            decoded = await decoder.decode(lines)
        except Overloaded as error:
            self.refuse("backlog", "too much text is waiting; try again later", error.seconds)
        totals = sum(each.tokens for each in decoded), sum(each.rounds for each in decoded)
        self.metrics.count_decoded(task, sum(map(len, lines)), *totals)
        return decoded

    def admit(self) -> None:
        """Raise RequestError (429) if as many requests are in progress as the limit allows."""
        if self.in_progress >= self.limits.requests:
            self.refuse("requests", "too many requests are waiting; try again later", self.pool.backlog.seconds)

    def refuse(self, reason: str, message: str, seconds: float = 0.0, headers: Mapping[str, str] = _NO_HEADERS) -> NoReturn:
        """Count a refusal and raise RequestError (429); after `seconds`, 1 to 60, the client may try again."""
        self.metrics.count_refusal(reason)
        raise RequestError(429, message, {"Retry-After": str(min(max(ceil(seconds), 1), _LONGEST_RETRY))} | dict(headers))

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Count a request as in progress inside the block."""
        self.in_progress += 1
        try:
            yield
        finally:
            self.in_progress -= 1

    async def run(self, request: Request, work: Awaitable[T]) -> T:
        """Wait for `work`, within the limits of the server; it is cancelled if time runs out or the client leaves.

        The body of the request must have been read. Raises RequestError if too many requests are in progress (429) or
        time runs out (OutOfTime), and ClientLeft.
        """
        task = asyncio.ensure_future(work)
        try:
            self.admit()
            with self.in_use():
                async with asyncio.timeout(self.limits.seconds):
                    await _wait(task, request)
        except TimeoutError as error:
            raise OutOfTime(self.limits.seconds) from error
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task})  # the process of a document has ended when its request has
        return task.result()


async def together(works: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Return the results of `works`, which run at the same time; if one raises an exception, cancel the others and raise it."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work) for work in works]
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return [task.result() for task in tasks]


async def _wait(task: "asyncio.Future[T]", request: Request) -> None:
    """Wait until `task` is done. Raises ClientLeft if the client closes its connection before that."""
    await asyncio.wait({task}, timeout=_UNWATCHED)
    if task.done():
        return
    left = asyncio.ensure_future(_disconnected(request))
    waited: set[asyncio.Future[Any]] = {task, left}
    try:
        await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
    finally:
        left.cancel()
    if not task.done():
        raise ClientLeft


async def _disconnected(request: Request) -> None:
    """Wait until the client closes its connection."""
    with suppress(asyncio.CancelledError):
        while (await request.receive())["type"] != "http.disconnect":
            pass
