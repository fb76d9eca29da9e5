"""A small server of the same framework as `specdec serve`, which translates each request by a call of CTranslate2 of its own.

`python -m tools.serving.ctranslate2_server FOLDER SOCKET [WORKERS [THREADS]]`: FOLDER is a bundle that was converted with
`specdec convert --to ctranslate2`, SOCKET the path of a Unix socket.
"""

import sys
from pathlib import Path
from urllib.parse import parse_qs

import uvicorn
from ctranslate2 import Translator  # type: ignore[attr-defined]
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from specdec_cli.text.segment.sentences import split_sentences
from specdec_cli.text.tokenize.ctranslate2 import FolderTokenizer


def make_application(folder: Path, workers: int, threads: int) -> Starlette:
    """Make the application; CTranslate2 has `workers` workers of `threads` threads each."""
    tokens = FolderTokenizer(folder)
    translator = Translator(str(folder), compute_type="int8", inter_threads=workers, intra_threads=threads)
    ids = {piece: number for number, piece in enumerate(tokens.tokenizer.vocabulary())}

    def decode(text: str) -> str:
        segments = split_sentences(text)
        pieces = [tokens.encode(sentence) for sentence in segments.texts]
        results = translator.translate_batch(pieces, beam_size=1) if pieces else []
        return segments.join([tokens.tokenizer.decode([ids[piece] for piece in result.hypotheses[0]]) for result in results])

    async def translate(request: Request) -> JSONResponse:
        text = parse_qs((await request.body()).decode())["q"][0]
        return JSONResponse({"translatedText": await run_in_threadpool(decode, text)})

    async def health(_: Request) -> JSONResponse:
        return JSONResponse({"status": "ok"})

    return Starlette(routes=[Route("/translate", translate, methods=["POST"]), Route("/health", health)])


if __name__ == "__main__":
    _folder, _socket, _workers, _threads = (*sys.argv[1:], "1", "1")[:4]
    uvicorn.run(make_application(Path(_folder), int(_workers), int(_threads)), uds=_socket, log_level="error")
