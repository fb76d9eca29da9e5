"""The page at / and the rounds and times that it shows."""

import asyncio
import base64
import hashlib
import json
import re
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from importlib.resources import files
from itertools import pairwise, takewhile
from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import HTMLResponse, StreamingResponse
from starlette.routing import Route

from specdec_cli.engines.engine import SentenceDecoder
from specdec_cli.engines.native import NativeEngine
from specdec_cli.language_codes import short_code
from specdec_cli.model.bundle_info import Described
from specdec_cli.native.model import DecodedRound
from specdec_cli.server.board import in_thread
from specdec_cli.server.guard import RequestError
from specdec_cli.server.requests import read_fields, text_of
from specdec_cli.server.service import NO_WORDS, Service, Words, make_decode
from specdec_cli.server.texts import checked_lines, split_pieces
from specdec_cli.text.tokenize.tokenizer import Tokenizer

Emit = Callable[[str, dict[str, Any]], None]
"""Takes an event: its name and values."""


_MOST_TIMES = 5
_TIMING_SECONDS = 0.2


class OpenEngine(Protocol):
    """Protocol of functions that load an engine for single sentences."""

    def __call__(self, *, greedy: bool) -> SentenceDecoder:
        """Load an engine that drafts, or decodes greedily."""


class Stopped(Exception):
    """An error: nobody waits for the result any more."""


class Rounds:
    """Turns the rounds of sentences into events "round", whose values are texts of tokens.

    `tokens` are those that the round took, of which the first `accepted` had been drafted, and `rejected` the other
    drafted ones.
    """

    def __init__(self, tokenizer: Tokenizer, emit: Emit) -> None:
        self._tokenizer, self._emit = tokenizer, emit
        self._sentences: dict[int, list[int]] = {}

    def add(self, one: DecodedRound) -> None:
        """Emit the event of a round."""
        before = self._sentences.setdefault(one.number, [])
        accepted = 0
        while accepted < min(len(one.taken), len(one.drafted)) and one.taken[accepted] == one.drafted[accepted]:
            accepted += 1
        taken, rejected = self._texts(before, one.taken), self._texts([*before, *one.taken[:accepted]], one.drafted[accepted:])
        before += one.taken
        self._emit("round", {"sentence": one.number, "tokens": taken, "accepted": accepted, "rejected": rejected})

    def _texts(self, before: Sequence[int], ids: Sequence[int]) -> list[str]:
        """The text that each of `ids` adds to the text of the ids `before` it."""
        texts = [self._text([*before, *ids[:end]]) for end in range(len(ids) + 1)]
        return [_added(known, longer) for known, longer in pairwise(texts)]

    def _text(self, ids: list[int]) -> str:
        """The text of ids, without the first bytes of a character at its end."""
        return self._tokenizer.decode(ids).rstrip("\ufffd")


class Showing:
    """Shows how the model of `bundle` decodes; `open_engine` loads its engines at the first use. One text at a time."""

    def __init__(self, bundle: Described, open_engine: OpenEngine, words: Words = NO_WORDS) -> None:
        self._bundle, self._open, self._words = bundle, open_engine, words
        self._usual = replace(words, glossary=None)
        self._lock = threading.Lock()

    @property
    def _corrects(self) -> bool:
        return self._bundle.info.task == "correct"

    @cached_property
    def _engines(self) -> tuple[SentenceDecoder, SentenceDecoder]:
        """An engine that drafts and one that decodes greedily; each has decoded a sentence."""
        engines = self._open(greedy=False), self._open(greedy=True)
        for engine in engines:
            list(make_decode(self._bundle, engine, self._usual)(["Hello."]))
        return engines

    def show(self, text: str, emit: Emit, is_stopped: Callable[[], bool]) -> None:
        """Decode a text and emit an event "round" for each round, if the engine is the native one, and then "result".

        The result has the text, its edits if the model corrects, tokens, rounds, and the least milliseconds of
        decoding the text again a few times, with drafts and greedily. A glossary changes the text alone: the rounds and the rest are those
        of the usual translation. Raises Stopped as soon as `is_stopped` is true.
        """
        with self._lock:
            drafting, plain = self._engines
            found = self._decode(drafting, text, is_stopped, Rounds(self._bundle.tokenizer, emit).add)
            greedy = self._decode(plain, text, is_stopped)
            times: tuple[list[float], list[float]] = ([], [])
            while len(times[0]) < _MOST_TIMES and sum(map(sum, times)) < _TIMING_SECONDS:
                for engine, own in zip((drafting, plain), times, strict=True):
                    started = time.perf_counter()
                    self._decode(engine, text, is_stopped)
                    own.append(time.perf_counter() - started)
        least = [1000 * min(own) for own in times]
        same = found["text"] == greedy["text"]
        values = {"milliseconds": least[0], "greedyMilliseconds": least[1], "sameAsGreedy": same, "decoding": drafting.decoding.method}
        if self._words.glossary is not None and not self._corrects:
            found["text"] = self._decode(plain, text, is_stopped, words=self._words)["text"]
        emit("result", found | values)

    def _decode(
        self,
        engine: SentenceDecoder,
        text: str,
        is_stopped: Callable[[], bool],
        onlooker: Callable[[DecodedRound], None] | None = None,
        words: Words | None = None,
    ) -> dict[str, Any]:
        def check() -> None:
            if is_stopped():
                raise Stopped

        check()
        engine.meanwhile = check
        if isinstance(engine, NativeEngine):
            engine.onlooker = onlooker
        return (_corrected if self._corrects else _translated)(text, make_decode(self._bundle, engine, words or self._usual))


def _added(known: str, longer: str) -> str:
    """What `longer` has after the characters at its beginning that `known` has too."""
    return longer[sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(known, longer, strict=False))) :]


def _translated(text: str, decode: Callable[[Sequence[str]], Iterable[Any]]) -> dict[str, Any]:
    pieces = split_pieces(text)
    decoded = list(decode(pieces.texts))
    return {"text": pieces.join([each.text for each in decoded])} | _totals(decoded)


def _corrected(text: str, decode: Callable[[Sequence[str]], Iterable[Any]]) -> dict[str, Any]:
    lines = list(checked_lines(text))
    decoded = list(decode([line.text for line in lines]))
    found, position, parts = [], 0, []
    for line, correction in zip(lines, decoded, strict=True):
        for edit in line.within_lines(correction.edits):
            start, end = line.span(edit.start, edit.end)
            parts += [text[position:start], edit.text]
            found.append({"start": start, "end": end, "source": text[start:end], "text": edit.text})
            position = end
    return {"text": "".join([*parts, text[position:]]), "edits": found} | _totals(decoded)


def _totals(decoded: Sequence[Any]) -> dict[str, int]:
    return {"tokens": sum(each.tokens for each in decoded), "rounds": sum(each.rounds for each in decoded)}


LONGEST = 2000
"""Characters of a text that the page may send."""
_SCRIPT = re.compile("<script>(.*?)</script>", re.DOTALL)
_STYLE = re.compile("<style>(.*?)</style>", re.DOTALL)


class Page:
    """The routes of the page; `showings` are by the task and the languages: "translate en de" or "correct en"."""

    def __init__(self, service: Service, showings: Mapping[str, Showing]) -> None:
        self._service, self._showings = service, showings
        self._turns = {name: asyncio.Lock() for name in showings}
        self._html = files("specdec_cli.server").joinpath("page.html").read_text(encoding="utf-8")
        sources = [f"script-src {_digests(_SCRIPT, self._html)}", f"style-src {_digests(_STYLE, self._html)}"]
        policy = ["default-src 'none'", "connect-src 'self'", *sources, "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"]
        self._headers = {
            "Content-Security-Policy": "; ".join(policy),
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
        }

    def routes(self) -> list[Route]:
        """The routes of the page."""
        return [Route("/", self.page), Route("/show", self.show, methods=["POST"])]

    async def page(self, _: Request) -> HTMLResponse:
        """Send the page."""
        models = json.dumps(list(self._showings)).replace("<", "\\u003c").replace('"', "&quot;")
        return HTMLResponse(self._html.replace("%MODELS%", models), headers=self._headers)

    async def show(self, request: Request) -> StreamingResponse:
        """Stream the rounds of a text and its result as server-sent events."""
        fields = await read_fields(request, replace(self._service.limits, characters=LONGEST), self._service.keys)
        text, task = text_of(fields, "text"), text_of(fields, "task")
        languages = [text_of(fields, "source"), text_of(fields, "target")] if task == "translate" else [text_of(fields, "source")]
        name = " ".join([task, *map(short_code, languages)])
        if name not in self._showings:
            raise RequestError(400, f"there is no model for {task} {' '.join(languages)}")
        if len(text) > LONGEST:
            raise RequestError(413, f"Invalid request: {len(text)} characters, more than the limit of {LONGEST} for this page")
        self._service.admit()
        return StreamingResponse(self._events(name, text), headers={"Cache-Control": "no-store"}, media_type="text/event-stream")

    async def _events(self, name: str, text: str) -> AsyncIterator[str]:
        """Yield the events of a text; the decoding stops when this generator is closed or time runs out.

        Texts for one model wait here, and not in threads, of which there are few for all requests.
        """
        loop, events, stopped = asyncio.get_running_loop(), asyncio.Queue[str | None](), False

        def emit(event: str, values: dict[str, Any]) -> None:
            loop.call_soon_threadsafe(events.put_nowait, f"event: {event}\ndata: {json.dumps(values)}\n\n")

        def run() -> None:
            try:
                self._showings[name].show(text, emit, lambda: stopped)
            except Stopped:
                pass
            except Exception as error:
                self._service.log.error(error)
                emit("failed", {"error": "internal error"})
            finally:
                loop.call_soon_threadsafe(events.put_nowait, None)

        with self._service.in_use():
            try:
                async with asyncio.timeout(self._service.limits.seconds), self._turns[name]:
                    running = asyncio.ensure_future(in_thread(run))
                    while (event := await events.get()) is not None:
                        yield event
                    await running
            except TimeoutError:
                yield f"event: failed\ndata: {json.dumps({'error': 'not done in time'})}\n\n"
            finally:
                stopped = True


def _digests(pattern: re.Pattern[str], html: str) -> str:
    """The parts of a page that `pattern` finds, as sources of a content security policy."""
    found = [base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in pattern.findall(html)]
    return " ".join(f"'sha256-{digest}'" for digest in found)
