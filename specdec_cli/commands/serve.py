"""`specdec serve`: translation and correction over HTTP."""

from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from specdec_cli.console.options import (
    MODEL_HELP,
    DecodingFlags,
    GlossaryOptions,
    IgnoreOptions,
    InstructionOption,
    MachineFlags,
    decoding_option,
    with_groups,
)
from specdec_cli.errors import MissingLibraryError
from specdec_cli.opening.models import served_bundles

_server_option = partial(typer.Option, rich_help_panel="Server")
_PORT = 5000
_NEEDED = ("starlette", "uvicorn", "prometheus_client")

ModelsOption = Annotated[
    list[str] | None,
    decoding_option("--model", "-m", metavar="MODEL", help=f"{MODEL_HELP} Repeatable.", show_default="all shipped bundles"),
]
HostOption = Annotated[str, _server_option("--host", metavar="ADDRESS", help="Address to listen on; others than loopback need --keys.")]
PortOption = Annotated[
    int | None,
    _server_option("--port", metavar="N", min=0, max=65535, help="Port to listen on; 0 is any free one.", show_default="5000"),
]
UnixOption = Annotated[
    Path | None, _server_option("--unix", metavar="PATH", help="Listen on this Unix socket, and on TCP only if --port is given too.")
]
KeysOption = Annotated[Path | None, _server_option("--keys", metavar="FILE", help="File of API keys, one a line; requests then need one.")]
OriginOption = Annotated[
    list[str] | None,
    _server_option("--allow-origin", metavar="URL", help="Let pages of this site use the server from a browser (CORS). Repeatable."),
]
MaxRequestsOption = Annotated[
    int, _server_option("--max-requests", metavar="N", min=1, help="Requests in progress at most; more are refused with status 429.")
]
MaxCharactersOption = Annotated[int, _server_option("--max-characters", metavar="N", min=1, help="Characters of a request at most.")]
TimeLimitOption = Annotated[
    float, _server_option("--time-limit", metavar="SECONDS", min=0.1, max=86_400, help="Longest time for a request.")
]
QuietOption = Annotated[bool, _server_option("--quiet", "-q", help="Log only warnings and errors.")]


@with_groups
def serve(
    models: ModelsOption = None,
    instruction: InstructionOption = None,
    host: HostOption = "127.0.0.1",
    port: PortOption = None,
    unix: UnixOption = None,
    keys: KeysOption = None,
    allow_origin: OriginOption = None,
    max_requests: MaxRequestsOption = 256,
    max_characters: MaxCharactersOption = 50_000,
    time_limit: TimeLimitOption = 30.0,
    quiet: QuietOption = False,
    *,
    glossary: GlossaryOptions,
    ignoring: IgnoreOptions,
    decoding: DecodingFlags,
    machine: MachineFlags,
) -> None:
    """Translate and correct over HTTP, for clients of LibreTranslate and LanguageTool, and for browsers.

    Requests of many clients are decoded together. Logs are JSON lines on stderr; they hold no text. SIGTERM or Ctrl-C
    finishes the requests in progress and stops.
    """
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise MissingLibraryError(f"serve needs {', '.join(missing)}", "server")
    from specdec_cli.work.serve_options import Addresses, Served
    from specdec_cli.work.serving import serve_models

    addresses = Addresses(host, _PORT if port is None else port, unix, uses_tcp=unix is None or port is not None)
    served = Served(models or served_bundles(), instruction, glossary, ignoring, decoding, machine)
    serve_models(served, addresses, keys, allow_origin or (), (max_requests, max_characters, time_limit), quiet=quiet)
