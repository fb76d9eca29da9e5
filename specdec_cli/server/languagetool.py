"""The interface of LanguageTool: /v2/check, /v2/languages, and the list of words that clients change, /v2/words."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from specdec_cli.errors import InputError, counted
from specdec_cli.language_codes import short_code
from specdec_cli.pipeline.corrector import Correction
from specdec_cli.server.board import in_thread
from specdec_cli.server.guard import RequestError
from specdec_cli.server.matches import AnnotatedText, match_of, plain_text, read_annotations, without_last_stop, without_overlaps
from specdec_cli.server.requests import checked_text, read_fields, text_of
from specdec_cli.server.service import Service, name_of, variants_of
from specdec_cli.server.texts import CheckedLine, checked_lines
from specdec_cli.text.io.word_list import WordList
from specdec_cli.text.locale.languages import likeliest_language
from specdec_cli.version import __version__

_LEVELS = ("default", "picky")
_TEXT_LEVEL = "textLevelOnly"
_MODES = ("all", "allButTextLevelOnly", _TEXT_LEVEL)
_BOOLEANS = {"": False, "false": False, "no": False, "true": True, "yes": True}


@dataclass(frozen=True)
class CheckOptions:
    """The rules and categories that a client turned off, and those to which it limits the matches (`only`, None without a limit).

    With `is_text_level`, it asks only for matches of rules that compare several sentences, of which there are none: clients send a second
    request for all other matches.
    """

    disabled: frozenset[str] = frozenset()
    only: frozenset[str] | None = None
    is_text_level: bool = False

    def wants(self, match: Mapping[str, Any]) -> bool:
        """Whether the client wants a match."""
        names = {match["rule"]["id"], match["rule"]["category"]["id"]}
        return not names & self.disabled and (self.only is None or bool(names & self.only))


def read_options(fields: Mapping[str, Any]) -> CheckOptions:
    """Read the options from the fields of a request. Raises RequestError for values that are not known, as LanguageTool does."""
    _chosen(fields, "level", _LEVELS)
    only = _names(fields, "enabledRules", "enabledCategories") if _is_true(fields, "enabledOnly") else None
    if only is not None and not only:
        raise RequestError(400, "Invalid request: enabledOnly needs enabledRules or enabledCategories")
    disabled = _names(fields, "disabledRules", "disabledCategories")
    return CheckOptions(disabled, only, _chosen(fields, "mode", _MODES) == _TEXT_LEVEL)


def _chosen(fields: Mapping[str, Any], name: str, known: tuple[str, ...]) -> str:
    """The value of a field, one of `known`; without one, their first."""
    value = text_of(fields, name, "") or known[0]
    if value not in known:
        raise RequestError(400, f"Invalid request: {name} is '{value}'; known values are {', '.join(known)}")
    return value


def _is_true(fields: Mapping[str, Any], name: str) -> bool:
    value = _BOOLEANS.get(str(fields.get(name, "")).lower())
    if value is None:
        raise RequestError(400, f"Invalid request: {name} is neither true nor false")
    return value


def _names(fields: Mapping[str, Any], *names: str) -> frozenset[str]:
    """The values of the fields `names`, each a text with commas or a list of such texts."""
    fields_of = [fields.get(name, "") for name in names]
    texts = [str(text) for value in fields_of for text in (value if isinstance(value, list) else [value])]
    return frozenset(one.strip() for text in texts for one in text.split(",")) - {""}


_SOFTWARE = {
    "name": "specdec",
    "version": __version__,
    "buildDate": "",
    "apiVersion": 1,
    "premium": False,
    "status": "",
}


class LanguageTool:
    """The routes of LanguageTool's interface."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def routes(self) -> list[Route]:
        """The routes of this interface."""
        return [
            Route("/v2/check", self.check, methods=["GET", "POST"]),
            Route("/v2/languages", self.languages),
        ]

    async def check(self, request: Request) -> JSONResponse:
        """Correct a text and answer with the edits as matches; a request without a body (HEAD) is answered with none."""
        service = self._service
        fields = await read_fields(request, service.limits, service.keys)
        if request.method == "HEAD":
            return JSONResponse(None)
        if "text" in fields and "data" in fields:
            raise RequestError(400, "Invalid request: text and data are given; one of them is expected")
        options = read_options(fields)
        text = read_annotations(fields["data"]) if "data" in fields else plain_text(text_of(fields, "text"))
        checked_text(text.checked, "text")
        service.check_size(len(text.checked))
        asked = text_of(fields, "language", "auto")
        size = len(text.checked)
        guessed, share = await service.prepare(lambda: likeliest_language(text.checked, service.correctors), size)
        language = self._language(asked, guessed)
        warnings: dict[str, Any] = {"incompleteResults": False}
        matches: list[dict[str, Any]] = []
        if not options.is_text_level:
            matches, unchanged = await service.run(request, self._matches(language, text))
            if unchanged:
                reason = f"too many words would change in {counted(unchanged, 'sentence')}"
                warnings = {"incompleteResults": True, "incompleteResultsReason": reason}
        detected = {"code": guessed or language, "name": name_of(guessed or language), "confidence": round(share, 3), "source": "specdec"}
        code = language if asked == "auto" else asked
        answer = {
            "software": _SOFTWARE,
            "warnings": warnings,
            "language": {"name": variants_of(language).get(code, code), "code": code, "detectedLanguage": detected},
            "matches": [match for match in matches if options.wants(match)],
        }
        return await service.prepare(lambda: JSONResponse(answer), size)

    async def languages(self, _: Request) -> JSONResponse:
        """List the languages that are corrected, each with its regional variants."""
        found = [
            {"name": name, "code": language, "longCode": code}
            for language in self._service.correctors
            for code, name in variants_of(language).items()
        ]
        return JSONResponse(found)

    async def _matches(self, language: str, text: AnnotatedText) -> tuple[list[dict[str, Any]], int]:
        """The matches in a text, and the number of sentences that stay as they are because too much would change."""
        size = len(text.checked)
        lines = await self._service.prepare(lambda: list(checked_lines(text.checked)), size)
        corrections = await self._service.correct(language, [line.text for line in lines])
        matches = await self._service.prepare(lambda: list(_matches_in(text, lines, corrections)), size)
        return matches, sum(each.too_many for each in corrections)

    def _language(self, asked: str, guessed: str | None) -> str:
        known = self._service.correctors
        if asked == "auto" and known:
            return guessed or next(iter(known))
        if short_code(asked) not in known:
            codes = ", ".join(code for language in known for code in variants_of(language)) or "none"
            raise RequestError(400, f"'{asked}' is not a language code known to this server. Supported codes are: {codes}")
        return short_code(asked)


def _matches_in(text: AnnotatedText, lines: Sequence[CheckedLine], corrections: Sequence[Correction]) -> Iterator[dict[str, Any]]:
    """Yield the matches for the corrections of the lines of a text."""
    for line, correction in zip(lines, corrections, strict=True):
        edits = line.between(line.within_lines(correction.edits), text.breaks)
        for edit in without_overlaps(line.text, without_last_stop(line.text, edits)):
            span = text.original_span(*line.span(edit.start, edit.end))
            if span is not None:
                yield match_of(line.text, edit, span)


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
        start, limit = _number(fields, "offset", 0), _number(fields, "limit", _USUAL_LIMIT)
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
            return await in_thread(change)
        except ValueError as error:
            raise RequestError(400, f"Invalid request: {error}") from error
        except (InputError, OSError) as error:
            self._service.log.write("words", "error", error=str(error))
            raise RequestError(500, "the list of words cannot be changed; the log says why") from error


def _number(fields: dict[str, Any], name: str, default: int) -> int:
    """A number of a request, 0 or more. Raises RequestError for any other value."""
    value = str(fields.get(name, default))
    if not value.isascii() or not value.isdigit() or len(value) > 9:
        raise RequestError(400, f"Invalid request: {name} is not a number")
    return int(value)
