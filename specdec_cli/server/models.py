"""Models of the server, each with a decoder for its language or pair of languages."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import islice
from typing import Any

from specdec_cli.engines.engine import SentenceDecoder
from specdec_cli.engines.native import NativeEngine
from specdec_cli.errors import UsageError
from specdec_cli.model.bundle_description import Described
from specdec_cli.pipeline.corrector import NOTHING_IGNORED, Correction, Corrector
from specdec_cli.pipeline.edit_filter import EditFilter
from specdec_cli.pipeline.ignored_edits import IgnoredEdits
from specdec_cli.pipeline.translator import Translator
from specdec_cli.server.batching import BatchDecoder
from specdec_cli.server.pieces import Fragment
from specdec_cli.server.service import Service
from specdec_cli.text.glossary import Glossary
from specdec_cli.text.locale.languages import short_code
from specdec_cli.text.spelling.word_list import WordList


@dataclass(frozen=True)
class Words:
    """What the user says about words: the `glossary` of translations, None without one, the edits that corrections do not make, whether
    labels are translated by the lists of the bundles, and the list of words that are right, which clients change; None without one.
    """

    glossary: Glossary | None = None
    ignored: IgnoredEdits = NOTHING_IGNORED
    uses_labels: bool = True
    listed: WordList | None = None


NO_WORDS = Words()


def add_model(service: Service, bundle: Described, engine: SentenceDecoder, threads: int = 1, words: Words = NO_WORDS) -> None:
    """Add a decoder for the model of `bundle` to `service`, and measure its speed.

    `engine` must allow calls by `threads` threads at the same time.

    Raises UsageError for a model that neither translates nor corrects, and for a second one of the same languages.
    """
    info = bundle.info
    pair = short_code(info.source_language), short_code(info.target_language)
    place = bundle.path.parent if bundle.path is not None else "the bundle"
    on_batch = partial(service.metrics.count_batch, info.task)
    decode = make_decode(bundle, engine, words, types=True)
    decoder: BatchDecoder[Any] = BatchDecoder(decode, service.pool, threads, on_batch)
    if info.task == "translate":
        if pair in service.translators:
            raise UsageError(f"{place}: another model translates from {pair[0]} to {pair[1]} already")
        service.translators[pair] = decoder
    else:
        if pair[0] in service.correctors:
            raise UsageError(f"{place}: another model corrects {pair[0]} already")
        service.correctors[pair[0]] = decoder
    if isinstance(engine, NativeEngine):
        engine.meanwhile = decoder.check
    decoder.measure()


def add_alternatives(service: Service, bundle: Described, open_beam: Callable[[], SentenceDecoder], words: Words) -> None:
    """Let `service` find several translations of a text with the model of `bundle`; `open_beam` loads an engine of beam search at
    their first use.
    """

    opening = threading.Lock()

    @cache
    def decode() -> Callable[[Sequence[str]], Iterable[Any]]:
        engine = open_beam()
        if isinstance(engine, NativeEngine):
            engine.meanwhile = decoder.check
        return make_decode(bundle, engine, words)

    def prepare() -> None:
        with opening:
            if not decode.cache_info().currsize:
                decode()
                decoder.measure()

    info = bundle.info
    on_batch = partial(service.metrics.count_batch, info.task)
    decoder: BatchDecoder[Any] = BatchDecoder(lambda lines: decode()(lines), service.pool, 1, on_batch, prepare)
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
        if words.uses_labels:
            translator.use_labels(bundle.labels)
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
        return partial(_correct_apart, corrector, words)
    place = bundle.path.parent if bundle.path is not None else "the bundle"
    raise UsageError(f"{place}: its task is {info.task}; the server translates and corrects")


@lru_cache(maxsize=2)
def _with_words(ignored: IgnoredEdits, words: tuple[str, ...]) -> IgnoredEdits:
    return ignored.with_words(words)


def _correct_apart(corrector: Corrector, words: Words, lines: Sequence[str]) -> Iterator[Correction]:
    """Correct lines of which none continues in the next one: they belong to different texts or paragraphs."""
    if words.listed is not None:
        corrector.ignore(_with_words(words.ignored, words.listed.words))
    return islice(corrector.correct([each for line in lines for each in (line, "")]), 0, None, 2)
