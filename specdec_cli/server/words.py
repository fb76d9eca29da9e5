"""LanguageTool's /v2/words: the list of words that clients add to, such as an editor's "Add to dictionary"."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from specdec_cli.errors import InputError
from specdec_cli.server.fields import read_fields, text_of
from specdec_cli.server.request_error import RequestError
from specdec_cli.server.service import Service
from specdec_cli.text.spelling.word_list import WordList

_USUAL_LIMIT = 10
"""The number of words that are listed unless a client asks for more, as with LanguageTool."""


class ListedWords:
    """The routes of the list of words. There is one list for all clients and languages."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def routes(self) -> list[Route]:
        """The routes of this interface."""
        return [
            Route("/v2/words", self.words, methods=["GET"]),
            Route("/v2/words/add", self.add, methods=["POST"]),
            Route("/v2/words/delete", self.delete, methods=["POST"]),
        ]

    async def words(self, request: Request) -> JSONResponse:
        """List `limit` words from number `offset` on, in the order in which they were added."""
        fields = await self._fields(request)
        start, limit = _count(fields, "offset", 0), _count(fields, "limit", _USUAL_LIMIT)
        return JSONResponse({"words": self._list.words[start : start + limit]})

    async def add(self, request: Request) -> JSONResponse:
        """Add `word` to the list; "added" says whether it was not there."""
        fields = await self._fields(request)
        return JSONResponse({"added": await self._changed(partial(self._list.add, text_of(fields, "word").strip()))})

    async def delete(self, request: Request) -> JSONResponse:
        """Remove `word` from the list; "deleted" says whether it was there."""
        fields = await self._fields(request)
        return JSONResponse({"deleted": await self._changed(partial(self._list.delete, text_of(fields, "word").strip()))})

    async def _fields(self, request: Request) -> dict[str, Any]:
        """The fields of a request. Raises RequestError for one without a valid key, and if there is no list."""
        fields = await read_fields(request, self._service.limits, self._service.keys)
        if self._service.words is None:
            raise RequestError(404, "this server has no list of words; start it with --words FILE")
        return fields

    @property
    def _list(self) -> WordList:
        assert self._service.words is not None
        return self._service.words

    async def _changed(self, change: Callable[[], bool]) -> bool:
        """What a change of the list returns. Raises RequestError for a word that it cannot hold, and if its file cannot be changed."""
        try:
            return await asyncio.to_thread(change)
        except ValueError as error:
            raise RequestError(400, f"Invalid request: {error}") from error
        except (InputError, OSError) as error:
            self._service.log.write("words", "error", error=str(error))
            raise RequestError(500, "the list of words cannot be changed; the log says why") from error


def _count(fields: dict[str, Any], name: str, default: int) -> int:
    """A number of a request, 0 or more. Raises RequestError for any other value."""
    value = str(fields.get(name, default))
    if not value.isascii() or not value.isdigit() or len(value) > 9:
        raise RequestError(400, f"Invalid request: {name} is not a number")
    return int(value)
