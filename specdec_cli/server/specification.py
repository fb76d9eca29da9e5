"""The description of the server's routes at /spec, in OpenAPI 3.0: what clients send, and what they get."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from specdec_cli.decoding.options import ranges
from specdec_cli.pipeline.text_variants import RULES
from specdec_cli.server.libretranslate import FORMATS, LARGEST_SEED, MOST_ALTERNATIVES
from specdec_cli.server.service import Service, codes_of, variants_of
from specdec_cli.version import __version__

Schema = dict[str, Any]
_BOOLEAN: Schema = {"type": "boolean"}
_NUMBER: Schema = {"type": "number"}
_INTEGER: Schema = {"type": "integer"}
_STRING: Schema = {"type": "string"}
_LOCKED = {"401": "There is no API key, but one is needed.", "403": "The API key is not valid, or a page of another site asks."}
_OVERLOADED = {"429": "Too much is waiting; Retry-After says when to try again.", "503": "Not done in time."}
_BODY = {"400": "A field is missing or not valid.", "408": "The request did not arrive in time.", "413": "The request is too large."}


def _text(description: str, *values: str) -> Schema:
    return _STRING | {"description": description} | ({"enum": list(values)} if values else {})


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _one_or_many(items: Schema) -> Schema:
    return {"oneOf": [items, _list(items)]}


def _object(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _json(description: str, schema: Schema) -> Schema:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


class Specification:
    """The route /spec; the description has the languages and limits of `service`."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def routes(self) -> list[Route]:
        """The route of this description."""
        return [Route("/spec", self.spec)]

    async def spec(self, _: Request) -> JSONResponse:
        """Describe the routes for programs; the page and its events, which only belong together, are left out."""
        service = self._service
        schemes = {"bearer": {"type": "http", "scheme": "bearer"}, "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"}}
        answer = {
            "openapi": "3.0.3",
            "info": {
                "title": "specdec",
                "version": __version__,
                "description": "Translation and correction, with the interfaces of LibreTranslate and LanguageTool. "
                f"Texts of a request have at most {service.limits.characters} characters in all.",
            },
            "paths": self._libretranslate() | self._languagetool() | self._operation(),
        }
        if service.keys.are_required:
            answer |= {"components": {"securitySchemes": schemes}}
        return JSONResponse(answer)

    def _route(
        self, summary: str, answer: Schema, fields: Mapping[str, Schema] | None = None, required: tuple[str, ...] = (), **more: Any
    ) -> Schema:
        """A route that answers with JSON; with `fields`, it reads them from a JSON object or a form, and needs a key if the server does."""
        operation: Schema = {"summary": summary, "responses": {"200": _json("The answer.", answer)}}
        if fields is None:
            return operation
        schema = {"type": "object", "properties": dict(fields)} | ({"required": list(required)} if required else {})
        kinds = more.get("kinds", ("application/json", "application/x-www-form-urlencoded", "multipart/form-data"))
        failures = _BODY | _OVERLOADED | (_LOCKED if self._service.keys.are_required else {}) | more.get("failures", {})
        operation["requestBody"] = {"required": True, "content": {kind: {"schema": schema} for kind in kinds}}
        operation["responses"] |= {status: {"description": meaning} for status, meaning in failures.items()}
        return operation | self._security()

    def _security(self) -> Schema:
        return {"security": [{"bearer": []}, {"header": []}]} if self._service.keys.are_required else {}

    def _libretranslate(self) -> Schema:
        codes = codes_of(self._service)
        known = ", ".join(codes)
        source, target = _text(f"Language of the text: auto, {known}."), _text(f"Language of the translation: {known}.")
        detected = _object(confidence=_NUMBER, language=_STRING)
        heat, top_k = ranges()["temperature"], ranges()["top_k"]
        sampling = {
            "temperature": _NUMBER | {"minimum": 0, "maximum": heat.high, "description": "Draw tokens at random; 0: do not."},
            "top_k": _INTEGER | {"minimum": top_k.low, "maximum": top_k.high, "description": "Draw from so many tokens only."},
            "seed": _INTEGER | {"minimum": 0, "maximum": LARGEST_SEED, "default": 1, "description": "Other seeds give other draws."},
        }
        fields = {
            "q": _one_or_many(_STRING) | {"description": "The text, or a list of texts."},
            "source": source,
            "target": target,
            "format": _text("What the text is.", *FORMATS) | {"default": "text"},
            "alternatives": _INTEGER | {"default": 0, "description": f"Other translations of a text, up to {MOST_ALTERNATIVES}."},
        }
        switches = {
            "raw": _BOOLEAN | {"default": False, "description": "The model's own output, line by line."},
            "without": _list({"type": "string", "enum": list(RULES)}) | {"description": "Rules that are off."},
        }
        translated = _object(translatedText=_one_or_many(_STRING))
        translated["properties"] |= {"detectedLanguage": _one_or_many(detected), "alternatives": {"type": "array"}}
        translated["properties"]["alternatives"]["items"] = _one_or_many(_STRING)
        language = _object(code=_STRING, name=_STRING, targets=_list(_STRING))
        file = {"file": {"type": "string", "format": "binary"}, "source": source, "target": target}
        document = {
            "description": "The document.",
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
        name = {"name": "name", "in": "path", "required": True, "schema": _STRING}
        settings = _object(
            apiKeys=_BOOLEAN,
            keyRequired=_BOOLEAN,
            charLimit=_INTEGER,
            frontendTimeout=_INTEGER,
            filesTranslation=_BOOLEAN,
            supportedFilesFormat=_list(_STRING),
            suggestions=_BOOLEAN,
            language=_object(source=_object(code=_STRING, name=_STRING), target={"type": "object", "nullable": True}),
        )
        form, needed = ("multipart/form-data",), ("source", "target")
        return {
            "/translate": {
                "post": self._route("Translate a text or a list of texts.", translated, fields | sampling | switches, ("q", *needed))
            },
            "/detect": {"post": self._route("Name the language of a text.", _list(detected), {"q": _STRING}, ("q",))},
            "/languages": {"get": self._route("List the languages, each with its targets.", _list(language))},
            "/frontend/settings": {"get": self._route("Describe the server.", settings)},
            "/translate_file": {
                "post": self._route("Translate a document.", _object(translatedFileUrl=_STRING), file, ("file", *needed), kinds=form)
            },
            "/download_file/{name}": {
                "get": {
                    "summary": "Fetch a translated document.",
                    "parameters": [name],
                    "responses": {"200": document, "404": {"description": "There is no such document."}},
                }
            },
            "/spec": {"get": self._route("Describe the routes, as here.", {"type": "object"})},
        }

    def _operation(self) -> Schema:
        state = _object(
            status=_text("Whether all decoders run.", "ok", "failed"), version=_STRING, translates=_list(_STRING), corrects=_list(_STRING)
        )
        health = self._route("Say whether the server works.", state)
        health["responses"]["503"] = _json("The models could not be loaded again.", state)
        text = {"description": "Metrics of Prometheus.", "content": {"text/plain": {"schema": _STRING}}}
        metrics = {"summary": "Counts and times.", "responses": {"200": text}} | self._security()
        return {"/health": {"get": health}, "/metrics": {"get": metrics}}

    def _languagetool(self) -> Schema:
        codes = [code for language in self._service.correctors for code in variants_of(language)]
        fields = {
            "text": _text("The text; or give data."),
            "data": _text('JSON with a list "annotation" of objects with "text", or with "markup" and perhaps "interpretAs".'),
            "language": _text(f"The language of the text: auto, {', '.join(codes)}.") | {"default": "auto"},
            "enabledOnly": _text("true: only enabledRules and enabledCategories."),
            "mode": _text("textLevelOnly: no matches.", "all", "allButTextLevelOnly", "textLevelOnly") | {"default": "all"},
            "level": _text("Changes nothing.", "default", "picky") | {"default": "default"},
        }
        fields |= {
            name: _text("Names with commas between them.")
            for name in ("enabledRules", "disabledRules", "enabledCategories", "disabledCategories")
        }
        category = _object(id=_STRING, name=_STRING)
        match = _object(
            message=_STRING,
            shortMessage=_STRING,
            offset=_INTEGER | {"description": "In UTF-16 code units."},
            length=_INTEGER,
            replacements=_list(_object(value=_STRING)),
            context=_object(text=_STRING, offset=_INTEGER, length=_INTEGER),
            sentence=_STRING,
            rule=_object(id=_STRING, description=_STRING, issueType=_STRING, category=category),
        )
        language = _object(name=_STRING, code=_STRING, detectedLanguage=_object(name=_STRING, code=_STRING, confidence=_NUMBER))
        check = self._route("Correct a text.", _object(software={"type": "object"}, language=language, matches=_list(match)), fields)
        query = [{"name": name, "in": "query", "schema": schema} for name, schema in fields.items()]
        asked = {name: value for name, value in check.items() if name != "requestBody"} | {"parameters": query}
        known = self._route("List the languages that are corrected.", _list(_object(name=_STRING, code=_STRING, longCode=_STRING)))
        no_list = {"404": "The server has no list of words."}
        words = {
            word: self._route(f"{word.capitalize()} a word.", _object(**{past: _BOOLEAN}), {"word": _STRING}, ("word",), failures=no_list)
            for word, past in (("add", "added"), ("delete", "deleted"))
        }
        pages = [{"name": name, "in": "query", "schema": _INTEGER | {"minimum": 0}} for name in ("offset", "limit")]
        listed = self._route("List the words that clients have added.", _object(words=_list(_STRING)), {}, failures=no_list)
        del listed["requestBody"]
        return {
            "/v2/check": {"get": asked, "post": check},
            "/v2/languages": {"get": known},
            "/v2/words": {"get": listed | {"parameters": pages}},
        } | {f"/v2/words/{word}": {"post": route} for word, route in words.items()}
