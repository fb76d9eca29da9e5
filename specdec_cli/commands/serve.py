"""`specdec serve`: translation and correction over HTTP."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specdec_cli.commands.options import (
    MODEL_HELP,
    DecodingFlags,
    GlossaryOptions,
    IgnoreOptions,
    InstructionOption,
    MachineFlags,
    decoding_option,
    with_groups,
)
from specdec_cli.commands.reports import say
from specdec_cli.decoding.methods import DEFAULT_MODE
from specdec_cli.decoding.options import DecodingOptions, resolve
from specdec_cli.errors import MissingLibraryError, UsageError
from specdec_cli.language_codes import short_code
from specdec_cli.opening.machine import MachineOptions
from specdec_cli.opening.models import ModelChoice, bundle_direction, bundle_order, bundle_task, served_bundles
from specdec_cli.processors import usable_processors

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from specdec_cli.engines.engine import SentenceDecoder
    from specdec_cli.server.guard import Keys, Limits
    from specdec_cli.server.monitoring import Log
    from specdec_cli.server.page import Showing
    from specdec_cli.server.service import Service, Words


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

    from specdec_cli.server.front import Front
    from specdec_cli.server.guard import Gate, Keys, Limits, is_loopback, read_keys, read_origin
    from specdec_cli.server.monitoring import Log, RequestMetrics
    from specdec_cli.server.run import listen_tcp, unix_socket
    from specdec_cli.server.run import serve as run
    from specdec_cli.server.worker_process import Start

    on_tcp = unix is None or port is not None
    if on_tcp and not is_loopback(host) and keys is None:
        raise UsageError(f"--host {host}: other machines may reach this address; give --keys FILE with the keys of the clients")
    origins = [read_origin(each) for each in allow_origin or ()]
    known = Keys() if keys is None else read_keys(keys)
    log, metrics = Log(quiet=quiet), RequestMetrics()
    limits = Limits(max_requests, max_characters, time_limit)
    names = models or served_bundles()
    if instruction is not None and len(names) > 1:
        raise UsageError("--instruction is for one model; convert --instruction stores it in a bundle")
    start = Start(load, (names, instruction, glossary, ignoring, decoding, machine, limits, known, origins, log))
    with ExitStack() as opened:
        sockets = [opened.enter_context(listen_tcp(host, _PORT if port is None else port))] if on_tcp else []
        if unix is not None:
            sockets.append(opened.enter_context(unix_socket(unix)))
        front = opened.enter_context(Front(start, time_limit, log, metrics))
        gate = Gate(front, log, metrics, front.paths, origins, checks_host=not known.are_required)
        run(front, gate, sockets, time_limit, log)


def load(
    names: Sequence[str],
    instruction: str | None,
    glossary: GlossaryOptions,
    ignoring: IgnoreOptions,
    decoding: DecodingFlags,
    machine: MachineOptions,
    limits: "Limits",
    keys: "Keys",
    origins: Sequence[str],
    log: "Log",
) -> "tuple[Service, ASGIApp, list[str]]":
    """Load the models in the worker process. Returns the service, its application, and the paths of the routes."""
    from specdec_cli.server.application import make_application
    from specdec_cli.server.queue import Pool
    from specdec_cli.server.service import Service

    words = read_words(glossary, ignoring)
    choices = [ModelChoice(name, offline=machine.offline, instruction=instruction) for name in names]
    words_of = words_of_models(words, choices)
    pool = Pool(usable_processors() if machine.threads is None else machine.threads, limits.seconds)
    service = Service(pool, {}, {}, limits, keys, log, words=words.listed)
    showings: dict[str, Showing] = {}
    for choice, own in zip(choices, words_of, strict=True):
        showings |= _load(service, choice, machine, decoding, own)
    return service, *make_application(service, origins, showings)


def _load(
    service: "Service", choice: ModelChoice, options: MachineOptions, decoding: DecodingFlags, words: "Words"
) -> dict[str, "Showing"]:
    """Load a model of `service`. Returns what the page shows of it.

    Raises what `open_engine` raises, and UsageError for a second model of one task and language.
    """
    from specdec_cli.engines.native_drafts import WORTH_LOADING
    from specdec_cli.opening.engines import open_beside, open_engine
    from specdec_cli.server.libretranslate import MOST_ALTERNATIVES
    from specdec_cli.server.page import Showing
    from specdec_cli.server.service import add_alternatives, add_model

    threads = usable_processors() if options.threads is None else options.threads
    request = decoding.options(options, with_scores=bundle_task(choice) == "correct", trace=False, mode=DEFAULT_MODE)
    try:
        opened = open_engine(choice, replace(options, threads=1), request, say)
    except UsageError as error:  # the message may be about an option that other models of the server take
        raise UsageError(f"{choice.name}: {error}") from error
    engine = opened.engine
    engine.expect(WORTH_LOADING)  # what is optional is loaded now, not during a request
    shared = engine.is_shareable
    if not shared and threads > 1:
        engine = open_beside(opened, choice, replace(options, threads=threads), request)
    add_model(service, opened.bundle, engine, threads if shared else 1, words)
    service.log.write("loaded", model=choice.name, engine=engine.description, decoding=engine.decoding.method, threads=threads)
    drafting = replace(request, decoding=resolve(request, opened.bundle).method, batch_size=1)
    if request.block_size is None and opened.bundle.drafter_config is not None:
        drafting = replace(drafting, block_size="auto")
    plain = DecodingOptions(decoding="greedy", max_length=request.max_length, with_scores=request.with_scores)

    beam = replace(plain, decoding="beam", beam_size=MOST_ALTERNATIVES + 1, n_best=MOST_ALTERNATIVES + 1)
    if bundle_task(choice) == "translate" and words.glossary is None and bundle_order(choice) == "left-to-right":
        add_alternatives(service, opened.bundle, lambda: open_beside(opened, choice, options, beam), words)

    def open_single(*, greedy: bool) -> "SentenceDecoder":
        return open_beside(opened, choice, replace(options, threads=1), plain if greedy else drafting)

    info = opened.bundle.info
    languages = [info.source_language, info.target_language] if info.task == "translate" else [info.source_language]
    return {" ".join([info.task, *map(short_code, languages)]): Showing(opened.bundle, open_single, words)}


def read_words(glossary: GlossaryOptions, ignoring: IgnoreOptions) -> "Words":
    """Read what the options say. Raises InputError for a file that cannot be read, and UsageError for values that are not valid."""
    from specdec_cli.server.service import Words
    from specdec_cli.text.glossary import Glossary
    from specdec_cli.text.spelling.word_list import WordList

    terms = glossary.read(n_best=1)
    listed = None if ignoring.words is None else WordList.of_file(ignoring.words, may_be_missing=True)
    ignored = replace(ignoring, words=None).ignored()
    return Words(None if terms is None else Glossary(terms), ignored, not glossary.no_labels, listed)


def words_of_models(words: "Words", models: Sequence[ModelChoice]) -> list["Words"]:
    """Check `words` against the descriptions of the models, before these are loaded, and return those of each model.

    A glossary has the direction of the first model that translates; the model of the opposite direction gets it with its sides exchanged.
    Raises UsageError for words that none of the models takes, for a glossary if models of other directions translate or if one cannot use
    it, and ModelError as `bundle_task` does.
    """
    from specdec_cli.pipeline.corrector import NOTHING_IGNORED
    from specdec_cli.text.glossary import check_order

    exchanged: set[ModelChoice] = set()
    if words.glossary is not None:
        translators = [each for each in models if bundle_task(each) == "translate"]
        directions = [bundle_direction(each) for each in translators]
        if not directions or directions[1:] not in ([], [directions[0][::-1]]):
            found = ", ".join(each.name for each in translators) or "none"
            what = "one model that translates, or one for each direction"
            raise UsageError(f"--glossary and --keep are for {what}; the models here that translate: {found}")
        for each in translators:
            check_order(bundle_order(each))
        exchanged.update(translators[1:])
    if (words.ignored != NOTHING_IGNORED or words.listed is not None) and not any(bundle_task(each) == "correct" for each in models):
        raise UsageError("--words, --ignore, --ignore-file and --ignore-category need a model that corrects")
    opposite = words if words.glossary is None else replace(words, glossary=words.glossary.exchanged())
    return [opposite if each in exchanged else words for each in models]
