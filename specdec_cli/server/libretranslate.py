"""The interface of LibreTranslate: /translate, /detect, /languages, /frontend/settings."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from specdec_cli.decoding.options import Decoding, Exact, Sampled, ranges
from specdec_cli.errors import UsageError
from specdec_cli.fields import Between
from specdec_cli.language_codes import short_code
from specdec_cli.pipeline.text_variants import RULES
from specdec_cli.server.documents import ENDINGS
from specdec_cli.server.guard import RequestError
from specdec_cli.server.requests import checked_text, read_fields, text_of
from specdec_cli.server.service import Pair, Service, codes_of, guessed, name_of, together, unsupported, variants
from specdec_cli.server.texts import Manner, split_html

MOST_ALTERNATIVES = 5
"""The largest number of alternatives of a text; a client that asks for more gets this many."""
FORMATS = ("text", "html")
LARGEST_SEED = 2**32 - 1
_SWITCH: Mapping[object, bool] = {True: True, "true": True, "1": True, False: False, "false": False, "0": False, "": False, None: False}


class LibreTranslate:
    """The routes of LibreTranslate's interface."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._codes = codes_of(service)

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
        if form not in FORMATS:
            raise RequestError(400, f"Invalid request: format {form} is not supported; {' and '.join(FORMATS)} are")
        detected = []
        if source == "auto":
            detected = await service.prepare(lambda: [guessed(service, text, target) for text in texts], sum(map(len, texts)))
        sources = [each["language"] for each in detected] if detected else [short_code(source)] * len(texts)
        count = min(_count(fields, "alternatives"), MOST_ALTERNATIVES)
        raw, without = _switches(fields, is_text=form == "text" and count == 0)
        manners = self._manners(
            fields, raw, without, dict.fromkeys((each, target) for each in sources if (each, target) in service.translators)
        )
        found = await service.run(request, self._translate(texts, sources, target, manners, is_html=form == "html", various=count > 0))
        many = isinstance(asked, list)
        answer: dict[str, Any] = {"translatedText": [each[0] for each in found] if many else found[0][0]}
        if detected:
            answer["detectedLanguage"] = detected if many else detected[0]
        if count > 0:
            others = [each[1 : count + 1] for each in found]
            answer["alternatives"] = others if many else others[0]
        return JSONResponse(answer)

    def _manners(self, fields: Mapping[str, Any], raw: bool, without: tuple[str, ...], pairs: Iterable[Pair]) -> dict[Pair, Manner]:
        """How a request is decoded, for each of `pairs`. Raises RequestError as `sampling_rule` does."""
        decodings = {pair: self._service.decodings.get(pair, Decoding()) for pair in pairs}
        return {pair: Manner(sampling_rule(fields, decoding), raw, without) for pair, decoding in decodings.items()}

    async def _translate(
        self,
        texts: list[str],
        sources: list[str],
        target: str,
        manners: Mapping[Pair, Manner],
        *,
        is_html: bool,
        various: bool,
    ) -> list[list[str]]:
        """The translation of each text; with `various`, other ones after it."""
        found = [[text] for text in texts]
        by_source = {source: [index for index, one in enumerate(sources) if one == source] for source in dict.fromkeys(sources)}
        if target in self._codes:
            by_source.pop(target, None)
        for source in by_source:
            if (source, target) not in self._service.translators:
                raise RequestError(400, unsupported(self._service, source, target))
        # At the same time, so that a request for which there is no room is refused as a whole.
        translated = await together(
            self._translate_from(
                (source, target), [texts[index] for index in chosen], manners[source, target], is_html=is_html, various=various
            )
            for source, chosen in by_source.items()
        )
        for chosen, each in zip(by_source.values(), translated, strict=True):
            for index, outputs in zip(chosen, each, strict=True):
                found[index] = outputs
        return found

    async def _translate_from(self, pair: Pair, texts: list[str], manner: Manner, *, is_html: bool, various: bool) -> list[list[str]]:
        pages = []
        if is_html:
            pages = await self._service.prepare(lambda: [split_html(text) for text in texts], sum(map(len, texts)))
        plain = [text for page in pages for text in page.texts] if is_html else texts
        if various:
            translated = await self._service.translate_variously(pair, plain, manner)
        else:
            translated = [[text] for text in await self._service.translate(pair, plain, manner=manner)]
        if is_html:
            parts = iter(translated)
            translated = [variants(page.join, [next(parts) for _ in page.texts]) for page in pages]
        return translated

    async def detect(self, request: Request) -> JSONResponse:
        """Name the most likely language of a text, with a confidence in percent."""
        fields = await read_fields(request, self._service.limits, self._service.keys)
        text = text_of(fields, "q")
        self._service.check_size(len(text))
        return JSONResponse([await self._service.prepare(lambda: guessed(self._service, text), len(text))])

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
                "filesTranslation": bool(self._codes),
                "supportedFilesFormat": list(ENDINGS) if self._codes else [],
                "suggestions": False,
                "language": {
                    "source": {"code": "auto", "name": "Auto Detect"},
                    "target": {"code": self._codes[-1], "name": name_of(self._codes[-1])} if self._codes else None,
                },
            }
        )


def _switches(fields: Mapping[str, Any], *, is_text: bool) -> tuple[bool, tuple[str, ...]]:
    """The fields `raw` and `without` of a request: whether it asks for the model's own output, and the names of rules that are off.

    Raises RequestError for other values, for a name of no rule, and for `raw` unless the request is for one translation of plain text.
    """
    asked, names = fields.get("raw", False), fields.get("without") or []
    if isinstance(asked, list | dict) or asked not in _SWITCH:
        raise RequestError(400, "Invalid request: raw is not true or false")
    if _SWITCH[asked] and not is_text:
        raise RequestError(400, "Invalid request: raw is for format text, without alternatives")
    without = tuple(checked_text(name, "without") for name in (names if isinstance(names, list) else str(names).split(",")))
    if unknown := set(without).difference(RULES):
        raise RequestError(400, f"Invalid request: without: {min(unknown)!r} is no rule; the rules are {', '.join(RULES)}")
    return _SWITCH[asked], without


def sampling_rule(fields: Mapping[str, Any], decoding: Decoding) -> Exact | Sampled | None:
    """The acceptance rule that the fields `temperature`, `top_k` and `seed` of a request ask for, where the server decodes by `decoding`;
    None for the server's own. A temperature of 0 asks for no sampling.

    Raises RequestError for values that are not numbers in their ranges, for the other two without a temperature if the server does not
    sample, and where the decoding does not allow sampling.
    """
    temperature, top_k = _number_of(fields, "temperature", float, 0.0), _number_of(fields, "top_k", int)
    seed, own = _number_of(fields, "seed", int), decoding.acceptance
    given = {name: value for name, value in (("temperature", temperature), ("top_k", top_k), ("seed", seed)) if value is not None}
    samples = isinstance(own, Sampled)
    if not samples and given and temperature is None:
        raise RequestError(400, f"Invalid request: {next(iter(given))} is only for requests with a temperature")
    if not given or (temperature == 0 and not samples):
        return None
    rule = Exact() if temperature == 0 else replace(own if isinstance(own, Sampled) else Sampled(), **given)
    try:
        decoding.with_rule(rule)
    except UsageError as error:
        raise RequestError(400, f"Invalid request: temperature: {error}") from error
    return rule


def _number_of(fields: Mapping[str, Any], name: str, kind: type[int] | type[float], also: float | None = None) -> Any:
    """The number in a field, None without it. Raises RequestError unless it is in its range, or `also`."""
    value, allowed = fields.get(name), Between(0, LARGEST_SEED) if name == "seed" else ranges()[name]
    if value is None:
        return None
    try:
        number = kind(value) if isinstance(value, str | int) or kind is float else None
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None or isinstance(value, bool) or not (number == also or allowed.low <= number <= allowed.high):
        more = "" if also is None else f", or {also:g},"
        raise RequestError(400, f"Invalid request: {name}: a number from {allowed.low} to {allowed.high}{more} is expected")
    return number


def _count(fields: Mapping[str, Any], name: str) -> int:
    """The value of a field that holds a number, 0 without it. Raises RequestError for anything else."""
    try:
        return int(fields.get(name) or 0)
    except (TypeError, ValueError, OverflowError) as error:
        raise RequestError(400, f"Invalid request: {name} is not a number") from error
