"""LibreTranslate's /translate_file and /download_file: translation of documents."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil
from pathlib import PurePath
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from specdec_cli.server.fields import BYTES_PER_CHARACTER, CLOSE, read_fields, text_of
from specdec_cli.server.form_data import Upload
from specdec_cli.server.kept_files import KeptFiles
from specdec_cli.server.request_error import RequestError
from specdec_cli.server.service import OutOfTime, Service
from specdec_cli.server.translated_pairs import codes_of, guessed, unsupported
from specdec_cli.server.uploaded_files import DocumentLimits, LimitReached, base_name, open_document
from specdec_cli.text.locale.languages import short_code

LARGEST = 2**24
"""Most bytes of a file."""
KEPT_SECONDS = 1800.0
_KEPT_BYTES = 2**26
_AT_ONCE = 4  # each needs several times the memory of its file
_SAMPLE = 10_000
_DOWNLOAD = "/download_file/"


class FileTranslation:
    """The routes for documents. Translated ones are kept in memory for half an hour, and fetched by the address in the answer."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._files = KeptFiles(KEPT_SECONDS, _KEPT_BYTES)
        self._in_progress = 0

    def routes(self) -> list[Route]:
        """The routes for documents."""
        return [
            Route("/translate_file", self.translate_file, methods=["POST"]),
            Route(f"{_DOWNLOAD}{{name}}", self.download_file),
        ]

    async def translate_file(self, request: Request) -> JSONResponse:
        """Translate the file of a multipart form, and answer with the address of the result."""
        service = self._service
        with self._admitted():
            fields = await read_fields(request, service.limits, service.keys, ("file",), LARGEST)
            upload = fields.get("file")
            if upload is None:
                raise RequestError(400, "Invalid request: missing file parameter")
            if not isinstance(upload, Upload):
                raise RequestError(400, "Invalid request: file is not one file of a multipart form")
            source, target = text_of(fields, "source"), short_code(text_of(fields, "target"))
            try:
                data = await service.run(request, self._translated(upload, source, target))
            except (LimitReached, OutOfTime) as error:
                service.metrics.count_ended_document(error.limit if isinstance(error, LimitReached) else "time")
                raise
        name = PurePath(base_name(upload.name))
        given = f"{name.stem}_{target}{name.suffix}"
        address = f"{_address(request)}{_DOWNLOAD}{self._files.add(given, data)}.{quote(given, safe='')}"
        asyncio.get_running_loop().call_later(KEPT_SECONDS + 1, self._files.forget_old)
        return JSONResponse({"translatedFileUrl": address})

    async def download_file(self, request: Request) -> Response:
        """Send a translated file. Of its address only the token counts; the name after it is for people."""
        found = self._files.get(request.path_params["name"].partition(".")[0])
        if found is None:
            raise RequestError(404, f"there is no such file; translated files are kept for {KEPT_SECONDS / 60:.0f} minutes")
        headers = {
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(found.name, safe='')}",
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
        }
        return Response(found.data, headers=headers, media_type="application/octet-stream")

    async def _translated(self, upload: Upload, source: str, target: str) -> bytes:
        limits = self._service.limits
        # Parsing a document takes more time than receiving it.
        own = DocumentLimits(limits.characters * BYTES_PER_CHARACTER, limits.characters, ceil(limits.seconds / 2))
        async with open_document(upload, own) as document:
            texts = await document.texts(upload.data)
            if source == "auto":
                source = guessed(self._service, " ".join(texts)[:_SAMPLE], target)["language"]
            pair = short_code(source), target
            if pair[0] == target and target in codes_of(self._service):
                return upload.data
            if pair not in self._service.translators:
                raise RequestError(400, unsupported(self._service, *pair))
            await document.check(*pair)
            return await document.translated(await self._service.translate(pair, texts, document.split))

    @contextmanager
    def _admitted(self) -> Iterator[None]:
        """Count a request for a file inside the block. Raises RequestError (429) if there are as many as the memory allows."""
        self._service.admit()
        if self._in_progress >= _AT_ONCE:
            self._service.refuse("documents", f"{_AT_ONCE} files are being translated; try again later", headers=CLOSE)
        self._in_progress += 1
        try:
            yield
        finally:
            self._in_progress -= 1


def _address(request: Request) -> str:
    """The address of the server as the client knows it: the host is that of the request, the scheme perhaps that of a proxy."""
    scheme = "https" if request.headers.get("x-forwarded-proto") == "https" else "http"
    return f"{scheme}://{request.headers.get('host') or 'localhost'}"
