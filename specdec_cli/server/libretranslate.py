"""The interface of LibreTranslate: /translate, /detect, /languages, /frontend/settings."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from specdec_cli.server.fields import checked_text, read_fields, text_of
from specdec_cli.server.html_text import split_html
from specdec_cli.server.languages import name_of
from specdec_cli.server.request_error import RequestError
from specdec_cli.server.service import Service
from specdec_cli.text.languages import guess_language, short_code

_FORMATS = ("text", "html")


class LibreTranslate:
    """The routes of LibreTranslate's interface."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._codes = list(dict.fromkeys(code for pair in service.translators for code in pair))

    def routes(self) -> list[Route]:
        """The routes of this interface."""
        return [
            Route("/translate", self.translate, methods=["POST"]),
            Route("/detect", self.detect, methods=["POST"]),
            Route("/languages", self.languages),
            Route("/frontend/settings", self.settings),
        ]

    async def translate(self, request: Request) -> JSONResponse:
        """Translate a text or a list of texts."""
        service = self._service
        fields = await read_fields(request, service.limits, service.keys)
        asked = fields.get("q")
        if asked is None:
            raise RequestError(400, "Invalid request: missing q parameter")
        texts = [checked_text(one, "q") for one in (asked if isinstance(asked, list) else [asked])]
        service.check_size(sum(map(len, texts)) + len(texts) - 1)
        source, target = text_of(fields, "source"), short_code(text_of(fields, "target"))
        form = text_of(fields, "format", "text")
        if form not in _FORMATS:
            raise RequestError(400, f"Invalid request: format {form} is not supported; {' and '.join(_FORMATS)} are")
        detected = [self._detected(text, target) for text in texts] if source == "auto" else []
        sources = [each["language"] for each in detected] if detected else [short_code(source)] * len(texts)
        outputs = await service.run(request, self._translate(texts, sources, target, form == "html"))
        many = isinstance(asked, list)
        answer: dict[str, Any] = {"translatedText": outputs if many else outputs[0]}
        if detected:
            answer["detectedLanguage"] = detected if many else detected[0]
        if _count(fields, "alternatives"):
            answer["alternatives"] = [[] for _ in texts] if many else []
        return JSONResponse(answer)

    async def _translate(self, texts: list[str], sources: list[str], target: str, is_html: bool) -> list[str]:
        outputs = list(texts)
        for source in dict.fromkeys(sources):
            if source == target and target in self._codes:
                continue
            if (source, target) not in self._service.translators:
                raise RequestError(400, self._unknown(source, target))
            chosen = [index for index, one in enumerate(sources) if one == source]
            pages = [split_html(texts[index]) for index in chosen] if is_html else []
            plain = [text for page in pages for text in page.texts] if is_html else [texts[index] for index in chosen]
            translated = await self._service.translate((source, target), plain)
            if is_html:
                parts = iter(translated)
                translated = [page.join([next(parts) for _ in page.texts]) for page in pages]
            for index, text in zip(chosen, translated, strict=True):
                outputs[index] = text
        return outputs

    async def detect(self, request: Request) -> JSONResponse:
        """Name the most likely language of a text, with a confidence in percent."""
        fields = await read_fields(request, self._service.limits, self._service.keys)
        text = text_of(fields, "q")
        self._service.check_size(len(text))
        return JSONResponse([self._detected(text)])

    async def languages(self, _: Request) -> JSONResponse:
        """List the languages with the targets into which each can be translated."""
        pairs = self._service.translators
        targets = {code: [target for source, target in pairs if source == code] for code in self._codes}
        return JSONResponse([{"code": code, "name": name_of(code), "targets": targets[code]} for code in self._codes])

    async def settings(self, _: Request) -> JSONResponse:
        """Describe the server, for LibreTranslate's page and other clients."""
        return JSONResponse(
            {
                "apiKeys": self._service.keys.are_required,
                "keyRequired": self._service.keys.are_required,
                "charLimit": self._service.limits.characters,
                "frontendTimeout": 500,
                "filesTranslation": False,
                "supportedFilesFormat": [],
                "suggestions": False,
                "language": {
                    "source": {"code": "auto", "name": "Auto Detect"},
                    "target": {"code": self._codes[-1], "name": name_of(self._codes[-1])} if self._codes else None,
                },
            }
        )

    def _detected(self, text: str, target: str = "") -> dict[str, Any]:
        """The most likely language of a text among the server's; without a sign of one, the first that has this target."""
        language, share = guess_language(text, self._codes)
        if language is None:
            language = next((one for one, other in self._service.translators if target in ("", other)), "en")
        return {"confidence": round(100 * share, 1), "language": language}

    def _unknown(self, source: str, target: str) -> str:
        known = ", ".join(f"{one} to {other}" for one, other in self._service.translators) or "none"
        return f"{source} to {target} is not supported; this server translates: {known}"


def _count(fields: Mapping[str, Any], name: str) -> int:
    """The value of a field that holds a number, 0 without it. Raises RequestError for anything else."""
    try:
        return int(fields.get(name) or 0)
    except (TypeError, ValueError, OverflowError) as error:
        raise RequestError(400, f"Invalid request: {name} is not a number") from error
