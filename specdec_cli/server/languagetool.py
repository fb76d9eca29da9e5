"""The interface of LanguageTool: /v2/check and /v2/languages."""

from collections.abc import Iterator, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from specdec_cli import __version__
from specdec_cli.pipeline.corrector import Correction
from specdec_cli.server.annotated_text import AnnotatedText, plain_text, read_annotations
from specdec_cli.server.check_options import read_options
from specdec_cli.server.fields import checked_text, read_fields, text_of
from specdec_cli.server.languages import name_of, variants_of
from specdec_cli.server.matches import match_of, without_last_stop, without_overlaps
from specdec_cli.server.paragraphs import CheckedLine, checked_lines
from specdec_cli.server.request_error import RequestError
from specdec_cli.server.service import Service
from specdec_cli.text.locale.languages import guess_language, short_code

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
        guessed, share = await service.prepare(lambda: guess_language(text.checked, service.correctors), size)
        language = self._language(asked, guessed)
        matches = [] if options.is_text_level else await service.run(request, self._matches(language, text))
        detected = {"code": guessed or language, "name": name_of(guessed or language), "confidence": round(share, 3), "source": "specdec"}
        code = language if asked == "auto" else asked
        answer = {
            "software": _SOFTWARE,
            "warnings": {"incompleteResults": False},
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

    async def _matches(self, language: str, text: AnnotatedText) -> list[dict[str, Any]]:
        size = len(text.checked)
        lines = await self._service.prepare(lambda: list(checked_lines(text.checked)), size)
        corrections = await self._service.correct(language, [line.text for line in lines])
        return await self._service.prepare(lambda: list(_found(text, lines, corrections)), size)

    def _language(self, asked: str, guessed: str | None) -> str:
        known = self._service.correctors
        if asked == "auto" and known:
            return guessed or next(iter(known))
        if short_code(asked) not in known:
            codes = ", ".join(code for language in known for code in variants_of(language)) or "none"
            raise RequestError(400, f"'{asked}' is not a language code known to this server. Supported codes are: {codes}")
        return short_code(asked)


def _found(text: AnnotatedText, lines: Sequence[CheckedLine], corrections: Sequence[Correction]) -> Iterator[dict[str, Any]]:
    """Yield the matches for the corrections of the lines of a text."""
    for line, correction in zip(lines, corrections, strict=True):
        edits = line.between(line.divided(correction.edits), text.breaks)
        for edit in without_overlaps(line.text, without_last_stop(line.text, edits)):
            span = text.original_span(line.place(edit.start), line.place(edit.end - 1) + 1)
            if span is not None:
                yield match_of(line.text, edit, span)
