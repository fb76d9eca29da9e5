"""Models of the server, each with a decoder for its language or pair of languages."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from typing import Any

from specdec_cli.errors import UsageError
from specdec_cli.pipeline.corrector import NOTHING_IGNORED, Correction, Corrector
from specdec_cli.pipeline.decoder import SentenceDecoder
from specdec_cli.pipeline.edit_filter import EditFilter
from specdec_cli.pipeline.ignored_edits import IgnoredEdits
from specdec_cli.pipeline.native_engine import NativeEngine
from specdec_cli.pipeline.settings import Described
from specdec_cli.pipeline.translator import Translator
from specdec_cli.server.batching import BatchDecoder
from specdec_cli.server.pieces import Fragment
from specdec_cli.server.service import Service
from specdec_cli.text.glossary import Glossary
from specdec_cli.text.locale.languages import short_code


@dataclass(frozen=True)
class Words:
    """What the user says about words: the `glossary` of translations, None without one, and the edits that corrections do not make."""

    glossary: Glossary | None = None
    ignored: IgnoredEdits = NOTHING_IGNORED


NO_WORDS = Words()


def add_model(service: Service, bundle: Described, engine: SentenceDecoder, threads: int = 1, words: Words = NO_WORDS) -> None:
    """Add a decoder for the model of `bundle` to `service`, and decode a text, so that the first request is fast.

    `engine` must allow calls by `threads` threads at the same time.

    Raises UsageError for a model that neither translates nor corrects, and for a second one of the same languages.
    """
    info = bundle.info
    pair = short_code(info.source_language), short_code(info.target_language)
    place = bundle.path.parent if bundle.path is not None else "the bundle"
    on_batch = partial(service.metrics.count_batch, info.task)
    decode = make_decode(bundle, engine, words, types=True)
    decoder: BatchDecoder[Any]
    if info.task == "translate":
        if pair in service.translators:
            raise UsageError(f"{place}: another model translates from {pair[0]} to {pair[1]} already")
        decoder = service.translators[pair] = BatchDecoder(decode, threads, on_batch=on_batch)
    else:
        if pair[0] in service.correctors:
            raise UsageError(f"{place}: another model corrects {pair[0]} already")
        decoder = service.correctors[pair[0]] = BatchDecoder(decode, threads, on_batch=on_batch)
    if isinstance(engine, NativeEngine):
        engine.meanwhile = decoder.check
    list(decode(["Hello.", "She have a dog."]))  # the second text has an error, whose type needs the lexicon


def add_alternatives(service: Service, bundle: Described, open_beam: Callable[[], SentenceDecoder]) -> None:
    """Let `service` find several translations of a text with the model of `bundle`; `open_beam` loads an engine of beam search at
    their first use.
    """

    @cache
    def decode() -> Callable[[Sequence[str]], Iterable[Any]]:
        engine = open_beam()
        if isinstance(engine, NativeEngine):
            engine.meanwhile = decoder.check
        return make_decode(bundle, engine)

    info = bundle.info
    on_batch = partial(service.metrics.count_batch, info.task)
    decoder: BatchDecoder[Any] = BatchDecoder(lambda lines: decode()(lines), on_batch=on_batch)
    service.alternatives[short_code(info.source_language), short_code(info.target_language)] = decoder


def make_decode(
    bundle: Described, engine: SentenceDecoder, words: Words = NO_WORDS, *, types: bool = False
) -> Callable[[Sequence[str]], Iterable[Any]]:
    """Make the function that translates or corrects lines with the model of `bundle`, each on its own.

    With `types`, edits have the types of their errors.

    Raises UsageError for a model that neither translates nor corrects.
    """
    info = bundle.info
    languages = info.source_language, info.target_language
    if info.task == "translate":
        translator = Translator(engine, bundle.tokenizer, languages=languages)
        if words.glossary is not None:
            translator.use_glossary(words.glossary)
        return lambda lines: translator.translate(lines, separate=[isinstance(line, Fragment) for line in lines])
    if info.task == "correct":
        edit_filter = EditFilter.of(info)
        corrector = Corrector(
            engine,
            bundle.tokenizer,
            edit_filter,
            languages=languages,
            ignored=words.ignored,
            types=types,
            ngrams=bundle.ngrams,
            lexicon=bundle.lexicon,
        )
        return partial(_correct_apart, corrector)
    place = bundle.path.parent if bundle.path is not None else "the bundle"
    raise UsageError(f"{place}: its task is {info.task}; the server translates and corrects")


def _correct_apart(corrector: Corrector, lines: Sequence[str]) -> Iterator[Correction]:
    """Correct lines of which none continues in the next one: they belong to different texts or paragraphs."""
    return islice(corrector.correct([each for line in lines for each in (line, "")]), 0, None, 2)
