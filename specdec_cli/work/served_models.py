"""The models of a server, in its worker process: they are checked against what the options say of words, and loaded."""

from collections.abc import Sequence
from dataclasses import replace

from starlette.types import ASGIApp

from specdec_cli.console.options import DecodingFlags, GlossaryOptions, IgnoreOptions
from specdec_cli.console.reports import say
from specdec_cli.decoding.methods import DEFAULT_MODE
from specdec_cli.decoding.options import DecodingOptions, resolve
from specdec_cli.engines.engine import SentenceDecoder
from specdec_cli.engines.native_drafts import WORTH_LOADING
from specdec_cli.errors import UsageError
from specdec_cli.language_codes import short_code
from specdec_cli.opening.engines import open_beside, open_engine
from specdec_cli.opening.machine import MachineOptions
from specdec_cli.opening.models import ModelChoice, bundle_direction, bundle_order, bundle_task
from specdec_cli.pipeline.corrector import NOTHING_IGNORED
from specdec_cli.processors import usable_processors
from specdec_cli.server.application import make_application
from specdec_cli.server.guard import Keys, Limits
from specdec_cli.server.libretranslate import MOST_ALTERNATIVES
from specdec_cli.server.monitoring import Log
from specdec_cli.server.page import Showing
from specdec_cli.server.queue import Pool
from specdec_cli.server.service import Service, Words, add_alternatives, add_model
from specdec_cli.text.glossary import Glossary, check_order
from specdec_cli.text.io.word_list import WordList
from specdec_cli.work.serve_options import Served


def load_models(served: Served, limits: Limits, keys: Keys, origins: Sequence[str], log: Log) -> tuple[Service, ASGIApp, list[str]]:
    """Load the models. Returns the service, its application, and the paths of the routes."""
    machine = served.machine
    words = read_words(served.glossary, served.ignoring)
    choices = [ModelChoice(name, offline=machine.offline, instruction=served.instruction) for name in served.names]
    words_of = words_of_models(words, choices)
    pool = Pool(usable_processors() if machine.threads is None else machine.threads, limits.seconds)
    service = Service(pool, {}, {}, limits, keys, log, words=words.listed)
    showings: dict[str, Showing] = {}
    for choice, own in zip(choices, words_of, strict=True):
        showings |= _load(service, choice, machine, served.decoding, own)
    return service, *make_application(service, origins, showings)


def _load(service: Service, choice: ModelChoice, options: MachineOptions, decoding: DecodingFlags, words: Words) -> dict[str, Showing]:
    """Load a model of `service`. Returns what the page shows of it.

    Raises what `open_engine` raises, and UsageError for a second model of one task and language.
    """
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

    def open_single(*, greedy: bool) -> SentenceDecoder:
        return open_beside(opened, choice, replace(options, threads=1), plain if greedy else drafting)

    info = opened.bundle.info
    languages = [info.source_language, info.target_language] if info.task == "translate" else [info.source_language]
    return {" ".join([info.task, *map(short_code, languages)]): Showing(opened.bundle, open_single, words)}


def read_words(glossary: GlossaryOptions, ignoring: IgnoreOptions) -> Words:
    """Read what the options say. Raises InputError for a file that cannot be read, and UsageError for values that are not valid."""
    terms = glossary.read(n_best=1)
    listed = None if ignoring.words is None else WordList.of_file(ignoring.words, may_be_missing=True)
    ignored = replace(ignoring, words=None).ignored()
    return Words(None if terms is None else Glossary(terms), ignored, not glossary.no_labels, listed)


def words_of_models(words: Words, models: Sequence[ModelChoice]) -> list[Words]:
    """Check `words` against the descriptions of the models, before these are loaded, and return those of each model.

    A glossary has the direction of the first model that translates; the model of the opposite direction gets it with its sides exchanged.
    Raises UsageError for words that none of the models takes, for a glossary if models of other directions translate or if one cannot use
    it, and ModelError as `bundle_task` does.
    """
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
