"""The page at / and the events that it shows."""

import asyncio
import base64
import hashlib
import json
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from importlib.resources import files
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, StreamingResponse
from starlette.routing import Route

from specdec_cli.server.fields import read_fields, text_of
from specdec_cli.server.request_error import RequestError
from specdec_cli.server.service import Service
from specdec_cli.server.showing import Showing, Stopped
from specdec_cli.text.locale.languages import short_code

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
                    running = loop.run_in_executor(None, run)
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
